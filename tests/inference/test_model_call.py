"""How models are called: by argument names, with a data object, or the user's way."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric import EdgeIndex
from torch_geometric.data import Batch, Data
from torch_geometric.nn import (
    GCN,
    GIN,
    GCNConv,
    GINConv,
    GraphConv,
    LSTMAggregation,
    MessagePassing,
    PairNorm,
    SAGEConv,
    SGConv,
    SortAggregation,
    global_add_pool,
)
from torch_geometric.utils import degree

import eigsearch
from eigsearch.datasets import generate
from eigsearch.errors import InputError, ModelError
from tests.nets import FEATURES, WIDTH, house, make_net, mlp, vivid
from tests.parallel.networks import Small
from tests.reference import twin


def plain() -> Data:
    data = house()
    return Data(x=data.x, edge_index=data.edge_index)


def assert_like_twin(
    model: Any, data: Data, predict: twin.Predict, node: int | None = None, **options: Any
) -> None:
    hops = None if node is None else 9  # more than the graph is wide
    for engine in ("batched", "incremental"):
        ex = eigsearch.explain(model, data, node=node, engine=engine, **options)
        asked = twin.Asked(ex.target, ex.config["task"], ex.config["return_type"], node)
        answer = twin.explain(predict, data, asked, hops=hops)
        torch.testing.assert_close(
            ex.edge_score, torch.tensor(answer.score).double(), atol=1e-5, rtol=1e-5
        )
        if node is None or ex.num_groups == len(set(twin.group_edges(data, "auto"))):
            assert ex.edge_mask.tolist() == answer.mask


class TakesData(nn.Module):
    """Reads everything it needs from one object."""

    def __init__(self) -> None:
        super().__init__()
        self.net = make_net()

    def forward(self, data: Data) -> Tensor:
        return self.net(data.x, data.edge_index, batch=data.batch)


def one_graph(data: Data) -> Data:
    return Batch.from_data_list([data])


def test_a_model_that_takes_the_data_object() -> None:
    model = vivid(TakesData())
    assert_like_twin(model, plain(), lambda data: model(one_graph(data)))


class TakesWhatThereIs(nn.Module):
    """Uses edge weights, and a mark of its own, where the graphs have them."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = GCNConv(FEATURES, WIDTH)
        self.head = nn.Linear(WIDTH, 3)

    def forward(self, data: Data) -> Tensor:
        weight = data.edge_weight
        if weight is not None:
            weight = weight.sigmoid()
        x = self.conv(data.x, data.edge_index, weight).tanh()
        if hasattr(data, "mark"):
            x = x * data.mark
        return self.head(global_add_pool(x, data.batch))


@pytest.mark.parametrize("marked", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_model_that_asks_what_the_data_object_has(weighted: bool, marked: bool) -> None:
    data, model = plain(), vivid(TakesWhatThereIs())
    if weighted:
        data.edge_weight = house().edge_weight
    if marked:
        data.node_id = data.mark = torch.arange(9.0).double()[:, None]
    assert eigsearch.explain(model, data, engine="incremental").engine == "incremental"

    def predict(part: Data) -> Tensor:
        if marked:
            part.mark = part.node_id
        return model(one_graph(part))[0]

    assert_like_twin(model, data, predict)


class TakesApart(TakesData):
    """Looks at the graphs of a batch one by one."""

    def forward(self, data: Batch) -> Tensor:
        return torch.cat([self.net(graph.x, graph.edge_index) for graph in data.to_data_list()])


def test_a_model_that_takes_the_batch_apart() -> None:
    model = vivid(TakesApart())
    assert_like_twin(model, plain(), lambda data: model(one_graph(data)))


def test_a_forward_of_the_user() -> None:
    class Odd(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.net = make_net()

        def forward(self, graph: dict[str, Tensor], scale: float) -> dict[str, Tensor]:
            return {"scores": scale * self.net(graph["x"], graph["e"], batch=graph["b"])}

    def call(model: nn.Module, data: Batch) -> Tensor:
        graph = {"x": data.x, "e": data.edge_index, "b": data.batch}
        return model(graph, scale=2.0)["scores"]

    model = Odd().eval()
    assert_like_twin(model, plain(), lambda data: call(model, one_graph(data)), forward=call)


def test_a_plain_function_is_a_model() -> None:
    model = make_net()
    assert_like_twin(
        lambda x, edge_index, batch: model(x, edge_index, batch=batch),
        plain(),
        lambda data: model(data.x, data.edge_index),
    )


@pytest.mark.parametrize("kind", [GCN, GIN])
@pytest.mark.parametrize("jk", [None, "cat"])
def test_the_networks_of_pyg_for_nodes(kind: type[nn.Module], jk: str | None) -> None:
    torch.manual_seed(0)
    model = vivid(kind(FEATURES, WIDTH, 2, 3, jk=jk, norm="batch_norm"))
    assert_like_twin(model, plain(), lambda data: model(data.x, data.edge_index), node=2)


def test_a_graph_model_around_a_network_of_pyg() -> None:
    class Pooled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.gnn = GIN(FEATURES, WIDTH, 2, 3, norm="graph_norm")

        def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor, batch_size: int) -> Tensor:
            x = self.gnn(x, edge_index, batch=batch, batch_size=batch_size)
            return global_add_pool(x, batch, batch_size)

    torch.manual_seed(0)
    model = vivid(Pooled())

    def predict(data: Data) -> Tensor:
        return model(data.x, data.edge_index, torch.zeros(data.num_nodes, dtype=torch.long), 1)

    assert_like_twin(model, plain(), predict)


class NoBatch(nn.Module):
    """Predicts one graph and cannot tell the graphs of a batch apart."""

    def __init__(self, flat: bool) -> None:
        super().__init__()
        self.conv, self.flat = GCNConv(FEATURES, WIDTH), flat
        self.head = nn.Linear(WIDTH, 4)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        out = self.head(self.conv(x, edge_index).tanh().sum(0))
        return out if self.flat else out[None]


@pytest.mark.parametrize("flat", [True, False])
def test_a_graph_model_without_a_batch_argument(flat: bool) -> None:
    torch.manual_seed(0)
    model = vivid(NoBatch(flat))
    assert_like_twin(model, plain(), lambda data: model(data.x, data.edge_index), sparsity=0.5)


class Layered(nn.Module):
    """Uses one layer three times: its depth cannot be counted from its modules."""

    def __init__(self) -> None:
        super().__init__()
        self.inputs, self.conv = nn.Linear(FEATURES, WIDTH), GCNConv(WIDTH, WIDTH)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = self.inputs(x)
        for _ in range(3):
            x = self.conv(x, edge_index).tanh()
        return x


def test_a_layer_that_is_used_three_times_reaches_three_hops() -> None:
    torch.manual_seed(0)
    model = vivid(Layered())
    data = plain()
    for ex in eigsearch.explain_dataset(model, data, node=[8, 7, 2]):
        answer = twin.explain(
            lambda d: model(d.x, d.edge_index),
            data,
            twin.Asked(ex.target, node=ex.node),
            hops=9,
        )
        torch.testing.assert_close(
            ex.edge_score, torch.tensor(answer.score).double(), atol=1e-5, rtol=1e-5
        )


def test_how_far_a_model_sees_shows_where_all_nodes_are_alike() -> None:
    """Along a path of equal nodes a mean is the same from everywhere, until an edge is gone."""

    class Averaged(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = SAGEConv(WIDTH, WIDTH)

        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            for _ in range(3):
                x = self.conv(x, edge_index).tanh()
            return x

    torch.manual_seed(0)
    model, nodes = vivid(Averaged()), torch.arange(5)
    ends = torch.stack([nodes[:-1], nodes[1:]])
    data = Data(x=torch.ones(5, WIDTH).double(), edge_index=torch.cat([ends, ends.flip(0)], dim=1))
    ex = eigsearch.explain(model, data, node=0)
    assert ex.num_groups == 3


def test_a_layer_of_several_hops() -> None:
    torch.manual_seed(0)
    model = vivid(SGConv(FEATURES, 3, K=3))
    assert_like_twin(model, plain(), lambda data: model(data.x, data.edge_index), node=2)


class Global(nn.Module):
    """Lets every node see the mean of its graph, so that no edge is out of reach."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = GCNConv(FEATURES, WIDTH), GCNConv(WIDTH, 3)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        x = self.first(x, edge_index).tanh()
        size = torch.bincount(batch)[:, None]
        x = x + (global_add_pool(x, batch) / size)[batch]
        return self.second(x, edge_index)


def test_a_model_with_a_global_view_is_given_the_whole_graph() -> None:
    torch.manual_seed(0)
    model = vivid(Global())

    def predict(data: Data) -> Tensor:
        return model(data.x, data.edge_index, torch.zeros(data.num_nodes, dtype=torch.long))

    assert_like_twin(model, plain(), predict, node=2)


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
def test_attributes_of_every_level_are_cut(
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
def test_attributes_keep_their_level_in_a_computation_graph(engine: str) -> None:
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
def test_a_graph_of_one_node_does_not_tell_the_level_of_an_attribute(
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


def test_numbers_of_a_graph_become_one_entry_per_candidate() -> None:
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


def test_attributes_that_hold_node_numbers_are_refused() -> None:
    data = plain()
    data.center_index = torch.tensor([3])
    model = vivid(TakesData())
    with pytest.raises(eigsearch.errors.UnsupportedError, match="center_index"):
        eigsearch.explain(model, data)


@pytest.mark.parametrize("name", ["x", "adj_t"])
def test_sparse_attributes_are_refused_where_the_model_may_read_them(name: str) -> None:
    """An adjacency beside the edges would keep what is removed from them."""
    data = plain()
    data[name] = torch.eye(9).double()[:, :FEATURES].to_sparse_csr()
    with pytest.raises(eigsearch.errors.UnsupportedError, match=f"a sparse `{name}`"):
        eigsearch.explain(vivid(TakesData()), data)
    if name == "adj_t":
        eigsearch.explain(make_net(), data)  # has no argument for it


@pytest.mark.parametrize("hops", [None, 2])
def test_edges_may_be_an_edge_index_of_pyg(hops: int | None) -> None:
    data, graph = plain(), plain()
    graph.edge_index = EdgeIndex(data.edge_index, sparse_size=(9, 9))
    net = make_net(pool=None)
    blurred = lambda x, edge_index: net(x, edge_index)  # noqa: E731 - hides how far it sees
    for model, node in [(make_net(), None), (net if hops else blurred, 3)]:
        for engine in ("batched", "incremental"):
            ex = eigsearch.explain(model, graph, node=node, engine=engine)
            expected = eigsearch.explain(model, data, node=node, engine=engine)
            assert torch.equal(ex.edge_score, expected.edge_score)
            assert ex.subgraph().num_edges == expected.subgraph().num_edges
    assert isinstance(graph.edge_index, EdgeIndex)


def test_mlp_without_any_layer_that_passes_messages() -> None:
    """A model whose nodes ignore their neighbours has nothing to say about edges."""
    model = mlp(FEATURES, 3).double()
    ex = eigsearch.explain(lambda x, edge_index: model(x), plain(), node=0)
    assert float(ex.edge_score.abs().max()) == 0


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
def test_a_model_that_mixes_the_graphs_of_a_batch_gets_one_candidate_per_call(
    node: int | None,
) -> None:
    torch.manual_seed(0)
    model = vivid(Crowded(pool=node is None))

    def predict(data: Data) -> Tensor:
        return model(data.x, data.edge_index, torch.zeros(data.num_nodes, dtype=torch.long))

    assert_like_twin(model, plain(), predict, node=node, return_type="raw")


@pytest.mark.parametrize("node", [None, 2])
def test_edges_may_be_small_integers(node: int | None) -> None:
    model, data = make_net(pool=None if node else "sum"), plain()
    expected = eigsearch.explain(model, data, node=node)
    small = Data(x=data.x, edge_index=data.edge_index.int())
    ex = eigsearch.explain(model, small, node=node)
    torch.testing.assert_close(ex.edge_score, expected.edge_score)
    assert torch.equal(ex.edge_mask, expected.edge_mask)


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
def test_what_a_graph_shares_a_batch_with_does_not_show(kind: type[nn.Module], edges: int) -> None:
    torch.manual_seed(0)
    model, data = vivid(kind()), plain()
    data.edge_index = data.edge_index[:, :edges]
    together = eigsearch.explain(model, data, sparsity=0.0)
    alone = eigsearch.explain(model, data, sparsity=0.0, max_batch_nodes=1)
    torch.testing.assert_close(together.curve.kept, alone.curve.kept)
    torch.testing.assert_close(together.curve.removed, alone.curve.removed)


def test_a_small_graph_that_is_padded_beside_large_ones_does_not_show() -> None:
    """The first edges of a graph often are a tree of all its nodes: a part of no other size."""
    torch.manual_seed(0)
    tree = torch.tensor([[0, 1, 2, 3, 4, 0, 0, 0, 1], [1, 2, 3, 4, 5, 2, 3, 4, 3]])
    data = Data(x=torch.randn(6, FEATURES).double(), edge_index=torch.cat([tree, tree.flip(0)], 1))
    together = eigsearch.explain(model := vivid(Padded()), data)
    alone = eigsearch.explain(model, data, max_batch_nodes=1)
    torch.testing.assert_close(together.curve.kept, alone.curve.kept)


def test_a_small_budget_does_not_hide_that_graphs_disturb_one_another() -> None:
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


def test_nodes_that_sort_as_equal_are_sorted_as_in_the_graph_alone() -> None:
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
def test_the_unit_of_an_output_does_not_matter(kind: type[nn.Module], search: str) -> None:
    """What a model sees, and whether graphs disturb one another, shows in small numbers as well."""
    torch.manual_seed(0)
    inside, data, node = vivid(kind()), plain(), 5 if kind is Layered else None
    asked: Any = {"task": "regression", "target": 0, "node": node, "search": search}
    large = eigsearch.explain(inside, data, **asked)
    small = eigsearch.explain(Tiny(inside), data, **asked)
    torch.testing.assert_close(small.edge_score * 1e4, large.edge_score)
    torch.testing.assert_close(small.curve.kept * 1e4, large.curve.kept)
    assert torch.equal(small.edge_mask, large.edge_mask)


class Walk(MessagePassing):
    """Shares a node's state equally between the edges that leave it."""

    def __init__(self, width: int, out: int) -> None:
        super().__init__()
        self.lin = nn.Linear(width, out)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        share = degree(edge_index[0], len(x)).clamp_min(1).to(x.dtype)
        return self.lin(x) + self.propagate(edge_index, x=self.lin(x) / share[:, None])


@pytest.mark.parametrize("node", range(9))
def test_edges_that_leave_a_computation_graph_count_where_a_layer_counts_them(node: int) -> None:
    torch.manual_seed(0)
    model = vivid(Walk(FEATURES, 3))
    edge_index = torch.randint(0, 9, (2, 20), generator=torch.Generator().manual_seed(node))
    data = Data(x=plain().x, edge_index=edge_index.unique(dim=1))
    with torch.no_grad():
        expected = model(data.x, data.edge_index)[node].softmax(-1)
    ex = eigsearch.explain(model, data, node=node)
    assert ex.value == pytest.approx(float(expected[ex.target]))
    assert ex.prediction == int(expected.argmax())


@pytest.mark.parametrize("forward", [None, lambda model, batch: model(batch)])
def test_model_that_is_a_class_or_a_graph_gets_advice_about_that(forward) -> None:
    graph = Data(x=torch.ones(3, 10), edge_index=torch.tensor([[0, 1], [1, 2]]))
    with pytest.raises(InputError, match=r"got the class Small\)\. Make one"):
        eigsearch.explain(Small, graph, forward=forward)
    with pytest.raises(InputError, match=r"got a graph\)\. Pass the model first"):
        eigsearch.explain(graph, Small(), forward=forward)


def test_features_that_do_not_fit_are_named_with_their_number() -> None:
    graph = Data(x=torch.ones(3, 9), edge_index=torch.tensor([[0, 1], [1, 2]]))
    with pytest.raises(ModelError, match=r"got `x` with 9 columns; torch says: mat1 and mat2"):
        eigsearch.explain(Small(), graph)


def test_a_compiled_model_is_explained_without_compiling_it() -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("compiled")

    graph = generate("BA-2Motifs").graphs[500]
    compiled = torch.compile(Small(), backend=refuse)
    found = eigsearch.explain(compiled, graph)
    assert torch.equal(found.edge_mask, eigsearch.explain(Small(), graph).edge_mask)
