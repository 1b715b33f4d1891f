"""Attributes as long as the graph has nodes or edges: known, asked for, or chosen by the user."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric import nn as pyg
from torch_geometric.data import Data
from torch_geometric.nn import (
    GraphConv,
)

import eigsearch
from eigsearch.errors import InputError
from tests.inference.twins import TakesData, plain
from tests.nets import FEATURES, house, make_net, vivid
from tests.reference import twin

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


class Weighted(nn.Module):
    """Weights messages by an attribute whose name says nothing."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv = pyg.GraphConv(FEATURES, 3).double()

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor, strength: Tensor) -> Tensor:
        return pyg.global_add_pool(self.conv(x, edge_index, strength).tanh(), batch)


@ENGINES
def test_settle_levels_of_an_attribute_of_as_many_edges_as_nodes(engine: str) -> None:
    """PyG goes by length, and takes it for the nodes'."""
    draw = torch.Generator().manual_seed(0)
    ring = torch.stack([torch.arange(6), torch.arange(6).roll(-1)])
    x = torch.randn(6, FEATURES, generator=draw, dtype=torch.double)
    strength = torch.rand(6, generator=draw, dtype=torch.double)
    model = Weighted().eval()
    ex = eigsearch.explain(model, Data(x=x, edge_index=ring, strength=strength), engine=engine)
    for keep, found in ((ex.edge_mask, ex.found.kept), (~ex.edge_mask, ex.found.removed)):
        there = ring[:, keep].unique()
        batch = torch.full((6,), 1).index_fill(0, there, 0)  # nodes without edges apart
        with torch.no_grad():
            out = model(x, ring[:, keep], batch, strength[keep])[0]
        assert float(found) == pytest.approx(float(out.softmax(-1)[ex.target]), abs=1e-5)


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


@pytest.mark.parametrize("together", [True, False])
def test_settle_levels_of_equal_entries_tell_nothing_about_another_graph(together: bool) -> None:
    """A vector of ones has the same mean with and without some nodes, and the next one has not."""
    model, even, uneven = Vector("spread").eval(), graph(0), graph(1)
    even.vec = torch.ones(9, dtype=torch.double)
    options: dict[str, Any] = {"return_type": "raw"}
    assert_vector_stays(model, eigsearch.explain(model, even, **options))
    graphs = [even, uneven] if together else [uneven]
    with pytest.raises(InputError, match="levels="):
        list(eigsearch.explain_dataset(model, graphs, **options))


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


class Reads(nn.Module):
    """Reads a node-level, an edge-level and a graph-level attribute beside the usual ones."""

    def __init__(self) -> None:
        super().__init__()
        self.kind = nn.Embedding(4, FEATURES)
        self.net = make_net("GCN weighted")

    def forward(
        self, x: Tensor, edge_index: Tensor, z: Tensor, edge_mark: Tensor, u: Tensor, batch: Tensor
    ) -> Tensor:
        x = x + self.kind(z)
        out = self.net(x, edge_index, edge_weight=edge_mark, batch=batch)
        return out * u


class ReadsObject(Reads):
    def forward(self, data: Any) -> Tensor:
        return super().forward(data.x, data.edge_index, data.z, data.edge_mark, data.u, data.batch)


def read(model: nn.Module) -> twin.Predict:
    def predict(data: Data) -> Tensor:
        batch = torch.zeros(data.num_nodes, dtype=torch.long)
        return Reads.forward(model, data.x, data.edge_index, data.z, data.edge_mark, data.u, batch)

    return predict


@pytest.mark.parametrize("kind", [Reads, ReadsObject])
@pytest.mark.parametrize("pairs", [9, 8, 1])
@pytest.mark.parametrize("directed", [True, False])
def test_attribute_levels_attributes_of_every_level_are_cut(
    kind: type[nn.Module], pairs: int, directed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With nine directed edges on nine nodes, only the name tells an edge attribute."""
    monkeypatch.setattr(twin, "EDGE_LEVEL", ("edge_mark",))
    data = house()
    stop = pairs if directed else None
    keep = torch.zeros(data.num_edges, dtype=torch.bool)
    keep[:pairs] = True
    if not directed:
        keep[9 : 9 + pairs] = True
    graph = Data(
        x=data.x,
        edge_index=data.edge_index[:, keep],
        edge_mark=data.edge_weight[keep],
        z=torch.arange(9) % 4,
        u=torch.tensor([[0.5, 2.0, 1.0]], dtype=torch.float64),
        y=torch.tensor([1]),
        name="a house",
    )
    assert stop is None or graph.num_edges == stop
    model = kind().double().eval()
    ex = eigsearch.explain(model, graph, target=0)
    answer = twin.explain(read(model), graph, twin.Asked(0))
    torch.testing.assert_close(ex.edge_score, torch.tensor(answer.score).double())
    assert ex.edge_mask.tolist() == answer.mask


class Loaded(nn.Module):
    """Weighs messages by an edge attribute whose name does not say so, and nodes by a table."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = GraphConv(FEATURES, 3)

    def forward(self, x: Tensor, edge_index: Tensor, load: Tensor, table: Tensor) -> Tensor:
        return self.conv(x, edge_index, load) * table[:2].sum()


@pytest.mark.parametrize("engine", ["batched", "incremental"])
def test_attribute_levels_are_kept_in_a_computation_graph(engine: str) -> None:
    """Around its end, a path of three nodes has two nodes and two edges: lengths say nothing."""
    torch.manual_seed(0)
    model = vivid(Loaded())
    data = Data(
        x=torch.randn(3, FEATURES).double(),
        edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]),
        load=torch.tensor([0.5, 1.0, 2.0, 3.0]).double(),
        table=torch.tensor([1.0, 2.0]).double(),
    )
    ex = eigsearch.explain(model, data, node=0, target=1, engine=engine)
    whole, without = (
        model(data.x, data.edge_index[:, keep], data.load[keep], data.table)[0]
        for keep in ([0, 1, 2, 3], [2, 3])
    )
    drop = twin_drop(whole, without, 1)
    torch.testing.assert_close(ex.edge_score[:2], torch.full((2,), drop / 2).double())


def twin_drop(whole: Tensor, without: Tensor, target: int) -> float:
    odds = [p.log() - (-p).log1p() for p in (row.softmax(0)[target] for row in (whole, without))]
    return float(odds[0] - odds[1])


@pytest.mark.parametrize("kind", [Reads, ReadsObject])
def test_attribute_level_graph_of_one_node_does_not_tell_it(
    kind: type[nn.Module],
) -> None:
    """One row for one node may be the graph's, which the graphs beside it tell."""
    model = kind().double().eval()

    def graph(nodes: int, ends: list[list[int]]) -> Data:
        return Data(
            x=house().x[:nodes],
            edge_index=torch.tensor(ends).long(),
            edge_mark=torch.ones(len(ends[0])).double(),
            z=torch.zeros(nodes).long(),
            u=torch.tensor([[0.5, 2.0, float(nodes)]], dtype=torch.float64),
            y=torch.tensor(1),
        )

    path = [list(range(8)), list(range(1, 9))]
    graphs = [graph(1, [[], []]), graph(2, [[0], [1]]), graph(9, path)]
    together = list(eigsearch.explain_dataset(model, graphs, target=0, engine="incremental"))
    assert together[-1].engine == "incremental"
    for one, data in zip(together, graphs, strict=True):
        other = eigsearch.explain(model, data, target=0, engine="batched")
        torch.testing.assert_close(one.edge_score, other.edge_score)
        assert one.value == pytest.approx(other.value)


def test_attribute_levels_number_of_a_graph_becomes_an_entry_per_candidate() -> None:
    class Scaled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.net = make_net()

        def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor, dose: Tensor) -> Tensor:
            return self.net(x, edge_index, batch=batch) * dose[:, None]

    model, data = Scaled(), plain()
    data.dose = 1.5
    graph = plain()
    ex = eigsearch.explain(model, data)
    half = eigsearch.explain(
        lambda x, edge_index, batch: 1.5 * model.net(x, edge_index, batch=batch), graph
    )
    torch.testing.assert_close(ex.edge_score, half.edge_score)


def test_attribute_levels_node_numbers_are_refused() -> None:
    data = plain()
    data.center_index = torch.tensor([3])
    model = vivid(TakesData())
    with pytest.raises(eigsearch.errors.UnsupportedError, match="center_index"):
        eigsearch.explain(model, data)
