"""Model checks: batch dependence, models that know nodes by number, optional arguments."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric import nn as pyg
from torch_geometric.data import Data

import eigsearch
from eigsearch import datasets
from tests.nets import FEATURES, house


def own_call(model: Any, data: Data) -> Tensor:
    """Return what the user's own call gives for one graph."""
    with torch.no_grad():
        batch = torch.zeros(int(data.num_nodes), dtype=torch.long)
        return model(data.x, data.edge_index, batch)[0].softmax(-1)


def assert_like_own_calls(model: Any, ex: eigsearch.SubgraphExplanation) -> None:
    assert ex.value == pytest.approx(float(own_call(model, ex.data)[ex.target]), abs=1e-4)
    rest = ex.data.edge_subgraph(~ex.edge_mask)
    ends = torch.zeros(int(ex.data.num_nodes), dtype=torch.bool)
    ends[rest.edge_index.flatten()] = True
    for part, phi in ((ex.subgraph(), ex.found.kept), (rest.subgraph(ends), ex.found.removed)):
        expected = float(own_call(model, part)[ex.target])
        assert float(phi) == pytest.approx(expected, abs=1e-4)


class Normed(nn.Module):
    """Normalises without `batch`, so that graphs of one call disturb one another."""

    def __init__(self, norm: nn.Module, width: int) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.norm, self.head = pyg.GraphConv(width, 8), norm, nn.Linear(8, 2)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        x = self.norm(self.conv(x, edge_index).tanh())
        return self.head(pyg.global_add_pool(x, batch))


NORMS = [
    pyg.GraphNorm(8), pyg.PairNorm(), pyg.InstanceNorm(8), pyg.LayerNorm(8, mode="graph"),
    nn.BatchNorm1d(8, track_running_stats=False),
]  # fmt: skip


@pytest.mark.parametrize("norm", NORMS, ids=lambda norm: type(norm).__name__)
@pytest.mark.parametrize("max_batch_nodes", [None, 60])
def test_model_traits_of_norms_without_batch_give_each_candidate_a_call(
    norm: nn.Module, max_batch_nodes: int | None
) -> None:
    graphs = [datasets.generate("BA-2Motifs")[i] for i in (0, 501)]
    model = Normed(norm, graphs[0].num_features).eval()
    options: dict[str, Any] = {"max_batch_nodes": max_batch_nodes, "return_type": "raw"}
    for ex in eigsearch.explain_dataset(model, graphs, **options):
        assert_like_own_calls(model, ex)
    assert ex.engine == "batched"
    assert "batch" in ex.config["why_engine"]


class ByNumber(nn.Module):
    """Knows nodes by their numbers."""

    def __init__(self, nodes: int) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.emb, self.conv, self.head = (
            nn.Embedding(nodes, 4), pyg.GraphConv(4, 4), nn.Linear(4, 2)
        )  # fmt: skip

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        h = self.emb(torch.arange(x.size(0)))
        return self.head(pyg.global_add_pool(self.conv(h, edge_index).tanh(), batch))


class FixedSize(nn.Module):
    """Reads out all nodes by position."""

    def __init__(self, nodes: int) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.head = pyg.GraphConv(FEATURES, 4).double(), nn.Linear(4 * nodes, 2).double()
        self.nodes = nodes

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return self.head(self.conv(x, edge_index).tanh().reshape(-1, 4 * self.nodes))


@pytest.mark.parametrize("engine", ["incremental", "batched"])
@pytest.mark.parametrize("make", [ByNumber, FixedSize])
def test_model_traits_of_models_that_know_nodes_by_number_keep_all_nodes(
    make: Any, engine: str
) -> None:
    data = house()
    model = make(data.num_nodes).eval()
    ex = eigsearch.explain(model, data, engine=engine, return_type="raw")
    assert "nodes='keep'" in ex.note
    for mask, phi in ((ex.edge_mask, ex.found.kept), (~ex.edge_mask, ex.found.removed)):
        part = Data(x=data.x, edge_index=data.edge_index[:, mask])
        assert float(phi) == pytest.approx(float(own_call(model, part)[ex.target]), abs=1e-5)


def test_nodes_keep_of_any_model_leaves_every_node_in_place() -> None:
    data, model = house(), pyg.GIN(FEATURES, 8, 2, 3).double().eval()

    class Graphs(nn.Module):
        def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
            return pyg.global_add_pool(model(x, edge_index), batch)

    for engine in ("batched", "incremental"):
        ex = eigsearch.explain(Graphs(), data, nodes="keep", engine=engine, return_type="raw")
        part = Data(x=data.x, edge_index=data.edge_index[:, ex.edge_mask])
        expected = float(own_call(Graphs(), part)[ex.target])
        assert float(ex.found.kept) == pytest.approx(expected, abs=1e-5)


class Weighted(nn.Module):
    """Takes weights, if it is given some."""

    def __init__(self, fails: bool = False) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.fails = pyg.GraphConv(FEATURES, 3).double(), fails

    def forward(
        self, x: Tensor, edge_index: Tensor, edge_weight: Any = None, batch: Any = None
    ) -> Tensor:
        if self.fails and edge_weight is not None:
            raise ValueError("weights are not for this model")
        return pyg.global_add_pool(self.conv(x, edge_index, edge_weight), batch)


def test_choose_arguments_notes_an_optional_one_that_changes_the_output() -> None:
    data, model = house(), Weighted()
    ex = eigsearch.explain(model, data, return_type="raw")
    assert ex.config["called_as"] == "model(x, edge_index, edge_weight, batch)"
    assert "`edge_weight` changes the output" in ex.note
    bare = eigsearch.explain(model, data, arguments=("x", "edge_index"), return_type="raw")
    expected = model(data.x, data.edge_index).softmax(-1)[0, bare.target]
    assert bare.value == pytest.approx(float(expected))
    assert bare.config["called_as"] == "model(x, edge_index, batch)"
    assert "edge_weight" not in bare.note


def test_choose_arguments_leaves_out_one_that_makes_the_model_fail() -> None:
    ex = eigsearch.explain(Weighted(fails=True), house(), return_type="raw")
    assert ex.config["called_as"] == "model(x, edge_index, batch)"
    assert ex.note.startswith(("Left out `edge_weight`", "These edges", "The prediction"))
    assert "weights are not for this model" in ex.note


def test_arguments_that_the_model_does_not_have_are_refused() -> None:
    with pytest.raises(eigsearch.errors.InputError, match="edge_wieght"):
        eigsearch.explain(Weighted(), house(), arguments=("x", "edge_wieght"))


class Scaled(nn.Module):
    """Divides by an extreme of the whole batch: of features, of degrees, or of read-outs."""

    def __init__(self, what: str) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.what, self.conv, self.head = what, pyg.GraphConv(FEATURES, 8), nn.Linear(8, 2)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        if self.what == "features":
            x = x / x.max()
        h = self.conv(x, edge_index).relu()
        if self.what == "states":
            h = h / h.max()
        pooled = pyg.global_max_pool(h, batch)
        return 4 * self.head(pooled / pooled.max() if self.what == "read-outs" else pooled)


def uneven_graph(seed: int = 0) -> Data:
    """Return a graph whose nodes have features of different size."""
    draw = torch.Generator().manual_seed(seed)
    nodes = torch.arange(1, 14)
    parents = torch.stack([torch.randint(0, int(i), (), generator=draw) for i in nodes])
    edges = torch.cat([torch.stack([parents, nodes]), torch.tensor([[0, 3, 5], [7, 9, 13]])], 1)
    x = torch.rand(14, FEATURES, generator=draw) * torch.arange(1, 15)[:, None]
    return Data(x=x, edge_index=torch.cat([edges, edges.flip(0)], 1))


@pytest.mark.parametrize("what", ["features", "states", "read-outs"])
@pytest.mark.parametrize("search", ["sweep", "refine"])
@pytest.mark.filterwarnings("ignore:Expected both engines")
def test_model_traits_are_found_out_when_the_incremental_engine_gives_up(
    what: str, search: str
) -> None:
    for seed in range(3):
        model = Scaled(what).eval()
        assert_like_own_calls(model, eigsearch.explain(model, uneven_graph(seed), search=search))


@pytest.mark.parametrize("what", ["states", "read-outs"])
@pytest.mark.filterwarnings("ignore:Expected both engines")
def test_model_traits_with_all_nodes_kept_look_at_small_parts(what: str) -> None:
    for seed in range(3):
        model, data = Scaled(what).eval(), uneven_graph(seed)
        ex = eigsearch.explain(model, data, nodes="keep")
        for mask, phi in ((ex.edge_mask, ex.found.kept), (~ex.edge_mask, ex.found.removed)):
            part = Data(x=data.x, edge_index=data.edge_index[:, mask])
            expected = float(own_call(model, part)[ex.target])
            assert float(phi) == pytest.approx(expected, abs=1e-4)


@pytest.mark.filterwarnings("ignore:Expected both engines")
def test_explain_sees_that_a_model_has_come_to_mix_graphs() -> None:
    for seed in range(3):
        model, data = Scaled("nothing").eval(), uneven_graph(seed)
        eigsearch.explain(model, data)
        model.what = "read-outs"
        assert_like_own_calls(model, eigsearch.explain(model, data))
