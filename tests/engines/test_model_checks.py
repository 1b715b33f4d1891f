"""Model checks: batch dependence, models that know nodes by number, optional arguments."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric import nn as pyg
from torch_geometric.data import Batch, Data
from torch_geometric.nn import (
    GCNConv,
    GINConv,
    LSTMAggregation,
    PairNorm,
    SortAggregation,
    global_add_pool,
)

import eigsearch
from eigsearch import datasets
from tests.inference.twins import Layered, assert_like_twin, plain
from tests.nets import FEATURES, WIDTH, house, vivid


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


class Unsteady(nn.Module):
    """Changes what it does where a call holds many nodes, or any node without edges."""

    def __init__(self, limit: int | None) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.head, self.limit = pyg.GraphConv(FEATURES, 8), nn.Linear(8, 2), limit
        self.double().eval()

    def forward(self, data: Any) -> Tensor:
        h = self.conv(data.x, data.edge_index).tanh()
        if self.limit is None:
            h = h * (0.5 if data.has_isolated_nodes() else 1)
        else:
            h = torch.cat([h[: self.limit], 0.5 * h[self.limit :]])
        return self.head(pyg.global_add_pool(h, data.batch))


def drops_of_own_calls(model: nn.Module, ex: eigsearch.SubgraphExplanation) -> list[float]:
    """Return the score of each group by a call of the model on the graph without it."""

    def odds(kept: Tensor) -> float:
        part = Batch.from_data_list([Data(x=ex.data.x, edge_index=ex.data.edge_index[:, kept])])
        with torch.no_grad():
            row = model(part).log_softmax(-1)[0]
        return float(row[ex.target] - row[1 - ex.target])

    full = odds(torch.ones_like(ex.group, dtype=torch.bool))
    groups = range(ex.num_groups)
    return [(full - odds(ex.group != g)) / int((ex.group == g).sum()) for g in groups]


@pytest.mark.parametrize("engine", ["auto", "batched"])
@pytest.mark.parametrize("limit", [None, 300])
def test_model_traits_hold_for_calls_as_large_as_they_get(limit: int | None, engine: str) -> None:
    """One edge of 21 leaves a node without edges, and only all removals have 300 nodes."""
    model, around = Unsteady(limit), torch.arange(20)
    ring = torch.cat([torch.stack([around, around.roll(-1)]), torch.tensor([[7], [20]])], dim=1)
    x = torch.randn(21, FEATURES, generator=torch.Generator().manual_seed(0), dtype=torch.double)
    data = Data(x=x, edge_index=torch.cat([ring, ring.flip(0)], dim=1))
    for ex in (
        eigsearch.explain(model, data, engine=engine, return_type="raw"),
        *eigsearch.explain_dataset(model, [data] * 2, engine=engine, return_type="raw"),
    ):
        assert ex.score.tolist() == pytest.approx(drops_of_own_calls(model, ex), abs=1e-4)


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


@pytest.mark.parametrize("fails", [False, True])
def test_choose_arguments_looks_at_the_graphs_of_a_window_that_have_them(fails: bool) -> None:
    bare = house()
    bare.edge_weight = None
    graphs = [bare, house(1)]
    model = Weighted(fails)
    without, weighted = eigsearch.explain_dataset(model, graphs, return_type="raw")
    assert "`edge_weight`" in weighted.note
    assert "`edge_weight`" not in without.note
    assert ("edge_weight" in weighted.config["called_as"]) is not fails
    weight = None if fails else graphs[1].edge_weight
    expected = model(graphs[1].x, graphs[1].edge_index, weight).softmax(-1)[0, weighted.target]
    assert weighted.value == pytest.approx(float(expected))


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


class Crowded(nn.Module):
    """Normalises over all nodes of a call, so that graphs in one batch disturb each other."""

    def __init__(self, pool: bool) -> None:
        super().__init__()
        self.conv, self.norm = GCNConv(FEATURES, 3), nn.BatchNorm1d(3, track_running_stats=False)
        self.pool = pool

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        x = self.norm(self.conv(x, edge_index)).tanh()
        return global_add_pool(x, batch) if self.pool else x


@pytest.mark.parametrize("node", [None, 2])
def test_model_checks_model_that_mixes_the_graphs_of_a_batch_gets_one_candidate_per_call(
    node: int | None,
) -> None:
    torch.manual_seed(0)
    model = vivid(Crowded(pool=node is None))

    def predict(data: Data) -> Tensor:
        return model(data.x, data.edge_index, torch.zeros(data.num_nodes, dtype=torch.long))

    assert_like_twin(model, plain(), predict, node=node, return_type="raw")


class Padded(nn.Module):
    """Reads the nodes of a graph one after the other, padded to the largest graph of the call."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.pool = GCNConv(FEATURES, WIDTH), LSTMAggregation(WIDTH, WIDTH)
        self.head = nn.Linear(WIDTH, 3)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return self.head(self.pool(self.conv(x, edge_index).tanh(), batch))


class Centred(nn.Module):
    """Subtracts the mean over all nodes of a call."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = GCNConv(FEATURES, 3), PairNorm()

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return global_add_pool(self.norm(self.conv(x, edge_index)).tanh(), batch)


@pytest.mark.parametrize("kind", [Padded, Centred])
@pytest.mark.parametrize("edges", [1, 18])
def test_model_checks_graphs_that_share_a_batch_do_not_show(
    kind: type[nn.Module], edges: int
) -> None:
    torch.manual_seed(0)
    model, data = vivid(kind()), plain()
    data.edge_index = data.edge_index[:, :edges]
    together = eigsearch.explain(model, data, sparsity=0.0)
    alone = eigsearch.explain(model, data, sparsity=0.0, max_batch_nodes=1)
    torch.testing.assert_close(together.curve.kept, alone.curve.kept)
    torch.testing.assert_close(together.curve.removed, alone.curve.removed)


def test_model_checks_small_graph_padded_beside_large_ones_does_not_show() -> None:
    """The first edges of a graph often are a tree of all its nodes: a part of no other size."""
    torch.manual_seed(0)
    tree = torch.tensor([[0, 1, 2, 3, 4, 0, 0, 0, 1], [1, 2, 3, 4, 5, 2, 3, 4, 3]])
    data = Data(x=torch.randn(6, FEATURES).double(), edge_index=torch.cat([tree, tree.flip(0)], 1))
    together = eigsearch.explain(model := vivid(Padded()), data)
    alone = eigsearch.explain(model, data, max_batch_nodes=1)
    torch.testing.assert_close(together.curve.kept, alone.curve.kept)


def test_model_checks_small_budget_does_not_hide_that_graphs_disturb_one_another() -> None:
    """Large graphs have calls of their own then; small ones still share theirs."""
    torch.manual_seed(0)
    large, small = house(), Data(torch.randn(2, FEATURES).double(), torch.tensor([[0, 1], [1, 0]]))
    large.x = torch.randn(int(large.num_nodes), FEATURES).double()
    middle = Data(torch.randn(3, FEATURES).double(), torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]))
    model = vivid(Padded())
    plenty = eigsearch.explain_dataset(model, [large, middle, small])
    scarce = eigsearch.explain_dataset(model, [large, middle, small], max_batch_nodes=9)
    for one, other in zip(plenty, scarce, strict=True):
        assert one.value == pytest.approx(other.value)
        torch.testing.assert_close(one.score, other.score)


class Sorting(nn.Module):
    """Reads the first nodes after sorting by a feature that some of them may share."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = GINConv(nn.Linear(FEATURES, 4))
        self.sort = SortAggregation(k=3)
        self.head = nn.Linear(12, 2)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
        states = self.conv(x, edge_index).tanh()
        return self.head(self.sort(torch.cat([states[:, :3], x[:, :1]], dim=1), batch))


def test_model_checks_nodes_that_sort_as_equal_are_sorted_as_in_the_graph_alone() -> None:
    torch.manual_seed(0)
    data = house()
    data.x = torch.randn(int(data.num_nodes), FEATURES).double()
    data.x[:, 0] = 1.0  # in the other graph all differ
    ring = torch.stack([torch.arange(40), torch.arange(1, 41) % 40])
    large = Data(torch.randn(40, FEATURES).double(), torch.cat([ring, ring.flip(0)], dim=1))
    model = vivid(Sorting())
    alone = eigsearch.explain(model, data, max_batch_nodes=1, engine="batched")
    together, _ = eigsearch.explain_dataset(model, [data, large])
    assert together.value == pytest.approx(alone.value)
    torch.testing.assert_close(together.score, alone.score)


class Tiny(nn.Module):
    """Says what another model says, in a unit in which all numbers are small."""

    def __init__(self, inside: nn.Module) -> None:
        super().__init__()
        self.inside = inside

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
        inputs = {} if isinstance(self.inside, Layered) else {"batch": batch}
        return self.inside(x, edge_index, **inputs) * 1e-4


@pytest.mark.parametrize("search", ["sweep", "resweep", "exhaustive"])
@pytest.mark.parametrize("kind", [Centred, Layered])
def test_model_checks_unit_of_an_output_does_not_matter(kind: type[nn.Module], search: str) -> None:
    """What a model sees, and whether graphs disturb one another, shows in small numbers as well."""
    torch.manual_seed(0)
    inside, data, node = vivid(kind()), plain(), 5 if kind is Layered else None
    asked: Any = {"task": "regression", "target": 0, "node": node, "search": search}
    large = eigsearch.explain(inside, data, **asked)
    small = eigsearch.explain(Tiny(inside), data, **asked)
    torch.testing.assert_close(small.edge_score * 1e4, large.edge_score)
    torch.testing.assert_close(small.curve.kept * 1e4, large.curve.kept)
    assert torch.equal(small.edge_mask, large.edge_mask)
