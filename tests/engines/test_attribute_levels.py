"""Attributes as long as the graph has nodes or edges: known, asked for, or chosen by the user."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric import nn as pyg
from torch_geometric.data import Data

import eigsearch
from eigsearch.errors import InputError
from tests.nets import FEATURES, house

ENGINES = pytest.mark.parametrize("engine", ["incremental", "batched"])


class Vector(nn.Module):
    """Adds a vector of the whole graph to the read-out: its mean, or a linear map of it."""

    def __init__(self, how: str, length: int = 9) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.how = how
        self.conv = pyg.GraphConv(FEATURES, 3).double()
        self.lin = nn.Linear(length, 3).double()

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor, vec: Tensor) -> Tensor:
        h = self.conv(x, edge_index).tanh()
        if self.how == "nodes":
            return pyg.global_add_pool(h * vec[:, None], batch)
        pooled = pyg.global_add_pool(h, batch)
        graphs = pooled.size(0)
        if self.how == "linear":
            return pooled + self.lin(vec.view(graphs, -1))
        return pooled + 4 * vec.view(graphs, -1).std(dim=1, keepdim=True) * pooled.roll(1, 1)


def graph(seed: int = 0, nodes: int = 9) -> Data:
    data = house(seed)
    if nodes < int(data.num_nodes):
        data = data.subgraph(torch.arange(nodes))
    draw = torch.Generator().manual_seed(seed)
    vec = torch.rand(9, generator=draw, dtype=torch.double)
    return Data(x=data.x, edge_index=data.edge_index, vec=vec)


def own_call(model: nn.Module, data: Data, keep: Tensor) -> Tensor:
    """Return the probabilities of an edge-induced part, with the whole vector."""
    part = data.edge_subgraph(keep)
    ends = part.edge_index.unique()
    number = torch.full((int(data.num_nodes),), -1)
    number[ends] = torch.arange(len(ends))
    batch = torch.zeros(len(ends), dtype=torch.long)
    with torch.no_grad():
        return model(data.x[ends], number[part.edge_index], batch, data.vec).softmax(-1)[0]


def assert_vector_stays(model: nn.Module, ex: Any) -> None:
    for keep, found in ((ex.edge_mask, ex.found.kept), (~ex.edge_mask, ex.found.removed)):
        expected = float(own_call(model, ex.data, keep)[ex.target])
        assert float(found) == pytest.approx(expected, abs=1e-5)


@ENGINES
def test_settle_levels_of_a_vector_that_no_part_of_the_graph_could_have(engine: str) -> None:
    model = Vector("linear").eval()
    ex = eigsearch.explain(model, graph(), engine=engine, return_type="raw")
    assert_vector_stays(model, ex)


@ENGINES
def test_settle_levels_that_differ_asks_and_takes_the_answer(engine: str) -> None:
    model = Vector("spread").eval()
    with pytest.raises(InputError, match="levels=") as raised:
        eigsearch.explain(model, graph(), engine=engine, return_type="raw")
    assert "`vec`" in str(raised.value)
    options: dict[str, Any] = {"engine": engine, "return_type": "raw"}
    whole = eigsearch.explain(model, graph(), levels={"vec": "graph"}, **options)
    assert_vector_stays(model, whole)
    cut = eigsearch.explain(model, graph(), levels={"vec": "node"}, **options)
    assert float(cut.found.kept) != pytest.approx(float(whole.found.kept))


@ENGINES
def test_settle_levels_of_several_graphs_needs_no_question(engine: str) -> None:
    model, graphs = Vector("spread").eval(), [graph(0), graph(1, nodes=8), graph(2)]
    for ex in eigsearch.explain_dataset(model, graphs, engine=engine, return_type="raw"):
        assert_vector_stays(model, ex)


@ENGINES
def test_settle_levels_of_what_nodes_have_needs_no_question(engine: str) -> None:
    data = graph()
    ex = eigsearch.explain(Vector("nodes").eval(), data, engine=engine, return_type="raw")
    assert ex.size


class NodeVector(nn.Module):
    """Predicts nodes with a vector of the whole graph."""

    def __init__(self, nodes: int) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.lin = pyg.GraphConv(FEATURES, 3).double(), nn.Linear(nodes, 3).double()

    def forward(self, x: Tensor, edge_index: Tensor, vec: Tensor) -> Tensor:
        return self.conv(x, edge_index).tanh() + self.lin(vec.view(-1, 9))[:1]


def test_settle_levels_of_a_node_task_keeps_the_vector() -> None:
    model, data = NodeVector(9).eval(), graph()
    ex = eigsearch.explain(model, data, node=2, return_type="raw", engine="batched")
    expected = model(data.x, data.edge_index, data.vec).softmax(-1)[2, ex.target]
    assert ex.value == pytest.approx(float(expected.detach()), abs=1e-6)


@pytest.mark.parametrize(
    ("levels", "words"), [({"vec": "nodes"}, "'node', 'edge' or 'graph'"), ({"v": "node"}, "'v'")]
)
def test_levels_that_do_not_exist_are_refused(levels: dict[str, str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        eigsearch.explain(Vector("linear").eval(), graph(), levels=levels)
