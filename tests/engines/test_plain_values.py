"""Attributes that are no tensors: what a user's own call reads, the model is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.nn import GINConv, SAGEConv, global_add_pool

import eigsearch
from eigsearch.errors import UnsupportedError
from tests.nets import FEATURES, house

Read = Callable[[Any], Any]


class Reader(nn.Module):
    """A model of one object, whose output depends on an attribute that is no tensor."""

    def __init__(self, read: Read, nodes: bool = False) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.head = GINConv(nn.Linear(FEATURES, 6)), nn.Linear(6, 3)
        self.read, self.nodes = read, nodes
        self.double().eval()

    def forward(self, data: Data) -> Tensor:
        h = self.conv(data.x, data.edge_index).tanh()
        h = h if self.nodes else global_add_pool(h, data.batch)
        return self.head(h) * self.read(data)


def graph(seed: int = 0, **attributes: Any) -> Data:
    full = house(seed)
    return Data(x=full.x, edge_index=full.edge_index, **attributes)


def own(model: nn.Module, data: Any) -> Tensor:
    with torch.no_grad():
        return model(data).softmax(dim=-1)


VALUES: dict[str, tuple[Read, Any, Any]] = {
    "compared": (lambda d: 3.0 if d.v == "a" else 1.0, "a", "b"),
    "compared with what comes second": (lambda d: 3.0 if d.v == "b" else 1.0, "a", "b"),
    "looked up": (lambda d: {"a": 3.0, "b": 1.0}[d.v], "a", "b"),
    "with a default": (lambda d: 3.0 if getattr(d, "v", "b") == "a" else 1.0, "a", "b"),
    "number": (lambda d: d.v, 0.5, 2.0),
    "whole number": (lambda d: 3.0 if isinstance(d.v, int) else 1.0, 1, 2),
    "dict": (lambda d: d.v["w"], {"w": 2.0}, {"w": 0.3}),
    "dict of tensors": (lambda d: d.v["w"], {"w": torch.tensor([2.0])}, {"w": torch.ones(1)}),
    "list": (lambda d: d.v[1], [1.0, 2.0], [2.0, 0.5]),
    "nested list": (lambda d: d.v[0][1], [[1.0, 4.0]], [[2.0, 0.5]]),
    "array": (lambda d: float(d.v.sum()), np.ones(3), np.ones(2)),
    "tuple": (lambda d: len(d.v), (1, 2), (1, 2, 3)),
}


@pytest.mark.parametrize("engine", ["auto", "batched"])
@pytest.mark.parametrize("name", VALUES)
def test_plain_value_that_a_model_reads_reaches_it_as_in_the_graph(name: str, engine: str) -> None:
    read, one, other = VALUES[name]
    graphs = [graph(0, v=one), graph(1, v=other), graph(2, v=one)]
    model = Reader(read)
    explanations = eigsearch.explain_dataset(model, graphs, engine=engine)
    for data, ex in zip(graphs, explanations, strict=True):
        assert ex.value == pytest.approx(float(own(model, data)[0, ex.target]), abs=1e-6)
        part = ex.subgraph()  # which PyG hands the attribute on to
        assert float(ex.found.kept) == pytest.approx(
            float(own(model, part)[0, ex.target]), abs=1e-6
        )


@pytest.mark.parametrize("engine", ["auto", "batched"])
def test_plain_value_that_a_model_reads_in_batches_is_collated_as_pyg_does(engine: str) -> None:
    def read(data: Batch) -> Tensor:
        assert isinstance(data.mode, list)
        assert data.config["w"].shape == (data.num_graphs,)
        factors = [{"a": 3.0, "b": 1.0}[mode] for mode in data.mode]
        return (torch.tensor(factors) * data.k * data.config["w"])[:, None]

    model = Reader(read)
    values = [{"mode": m, "k": k, "config": {"w": w}} for m, k, w in [("a", 1, 0.5), ("b", 2, 1.5)]]
    graphs = [graph(seed, **value) for seed, value in enumerate(values)]
    expected = own(model, Batch.from_data_list(graphs))
    found = eigsearch.explain_dataset(model, graphs, engine=engine)
    for row, ex in zip(expected, found, strict=True):
        assert ex.value == pytest.approx(float(row[ex.target]), abs=1e-6)
        assert engine == "auto" or ex.engine == "batched"


def test_plain_value_that_means_something_else_in_a_batch_is_noted() -> None:
    ex = eigsearch.explain(Reader(VALUES["compared"][0]), graph(v="a"))
    assert "The model is given `v` as in the graph, not as PyG's Batch holds it" in ex.note


def test_plain_value_that_no_model_reads_changes_nothing() -> None:
    model = Reader(lambda data: 2.0)
    with_names = [graph(seed, smiles="C" * seed, names=["C"] * 9) for seed in (1, 2)]
    found = eigsearch.explain_dataset(model, with_names)
    plain = eigsearch.explain_dataset(model, [graph(1), graph(2)])
    for ex, other in zip(found, plain, strict=True):
        assert ex.note == other.note
        torch.testing.assert_close(ex.edge_score, other.edge_score)


@pytest.mark.parametrize("value", [["C"] * 9, {"rows": torch.ones(9)}, np.ones(9)])
def test_plain_value_with_a_row_for_each_node_is_refused_where_it_is_read(value: Any) -> None:
    model = Reader(lambda data: float(len(data.v)))
    with pytest.raises(UnsupportedError, match="in a tensor that is an attribute of its own"):
        eigsearch.explain(model, graph(v=value))


@pytest.mark.parametrize("engine", ["auto", "batched"])
def test_plain_value_reaches_the_model_of_nodes_and_named_arguments(engine: str) -> None:
    def of_mode(x: Tensor, edge_index: Tensor, mode: str = "b") -> Tensor:
        return model.conv(x, edge_index).tanh()[:, :3] * (3.0 if mode == "a" else 1.0)

    model, data = Reader(VALUES["compared"][0], nodes=True), graph(v="a", mode="a")
    ex = eigsearch.explain(model, data, node=3, engine=engine)
    assert ex.value == pytest.approx(float(own(model, data)[3, ex.target]), abs=1e-6)
    ex = eigsearch.explain(of_mode, data, node=3, engine=engine)
    expected = of_mode(data.x, data.edge_index, "a").softmax(-1)[3, ex.target].item()
    assert ex.value == pytest.approx(expected, abs=1e-6)
    assert ex.config["called_as"] == "model(x, edge_index, mode)"


def test_plain_values_of_typed_graphs_reach_the_model() -> None:
    class Typed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.conv = SAGEConv(FEATURES, 3).double()

        def forward(self, data: HeteroData) -> Tensor:
            h = self.conv(data["a"].x, data["a", "to", "a"].edge_index).tanh()
            h = global_add_pool(h, data["a"].batch if "batch" in data["a"] else None)
            return h * {"low": 0.3, "high": 3.0}[data.level] * data.scale

    graphs = []
    for seed, (level, scale) in enumerate([("low", 1.0), ("high", 0.5), ("low", 2.0)]):
        data, full = HeteroData(), house(seed)
        data["a"].x, data["a", "to", "a"].edge_index = full.x, full.edge_index
        data.level, data.scale = level, scale
        graphs.append(data)
    model = Typed().eval()
    for data, ex in zip(graphs, eigsearch.explain_dataset(model, graphs), strict=True):
        assert ex.value == pytest.approx(float(own(model, data)[0, ex.target]), abs=1e-6)
