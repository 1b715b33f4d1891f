"""How models are called: by argument names, with a data object, or the user's way."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor, nn
from torch_geometric import EdgeIndex
from torch_geometric.data import Batch, Data
from torch_geometric.nn import (
    GCN,
    GIN,
    GCNConv,
    GINEConv,
    global_add_pool,
)

import eigsearch
from eigsearch.datasets import generate
from eigsearch.errors import ModelError
from eigsearch.inference.model_call import ModelCall
from tests.inference.twins import TakesData, assert_like_twin, one_graph, plain
from tests.nets import FEATURES, WIDTH, house, make_net, mlp, vivid
from tests.parallel.networks import Small


def test_model_call_model_that_takes_the_data_object_is_given_it() -> None:
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
def test_model_call_model_that_asks_what_the_data_object_has_is_answered(
    weighted: bool, marked: bool
) -> None:
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


def test_model_call_model_that_takes_the_batch_apart_works() -> None:
    model = vivid(TakesApart())
    assert_like_twin(model, plain(), lambda data: model(one_graph(data)))


def test_model_call_forward_of_the_user_is_called() -> None:
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


def test_model_call_plain_function_is_a_model() -> None:
    model = make_net()
    assert_like_twin(
        lambda x, edge_index, batch: model(x, edge_index, batch=batch),
        plain(),
        lambda data: model(data.x, data.edge_index),
    )


@pytest.mark.parametrize("kind", [GCN, GIN])
@pytest.mark.parametrize("jk", [None, "cat"])
def test_model_call_node_networks_of_pyg_work(kind: type[nn.Module], jk: str | None) -> None:
    torch.manual_seed(0)
    model = vivid(kind(FEATURES, WIDTH, 2, 3, jk=jk, norm="batch_norm"))
    assert_like_twin(model, plain(), lambda data: model(data.x, data.edge_index), node=2)


def test_model_call_graph_model_around_a_network_of_pyg_works() -> None:
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
def test_model_call_graph_model_without_a_batch_argument_works(flat: bool) -> None:
    torch.manual_seed(0)
    model = vivid(NoBatch(flat))
    assert_like_twin(model, plain(), lambda data: model(data.x, data.edge_index), sparsity=0.5)


@pytest.mark.parametrize("hops", [None, 2])
def test_model_call_edge_index_of_pyg_is_taken(hops: int | None) -> None:
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


def test_model_call_model_without_messages_has_no_drops() -> None:
    """A model whose nodes ignore their neighbours has nothing to say about edges."""
    model = mlp(FEATURES, 3).double()
    ex = eigsearch.explain(lambda x, edge_index: model(x), plain(), node=0)
    assert float(ex.edge_score.abs().max()) == 0


@pytest.mark.parametrize("node", [None, 2])
def test_model_call_small_integers_as_edges_are_taken(node: int | None) -> None:
    model, data = make_net(pool=None if node else "sum"), plain()
    expected = eigsearch.explain(model, data, node=node)
    small = Data(x=data.x, edge_index=data.edge_index.int())
    ex = eigsearch.explain(model, small, node=node)
    torch.testing.assert_close(ex.edge_score, expected.edge_score)
    assert torch.equal(ex.edge_mask, expected.edge_mask)


def test_model_call_edge_features_that_do_not_fit_are_named_beside_those_of_nodes() -> None:
    class EdgeNet(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = GINEConv(nn.Linear(4, 2), edge_dim=3)

        def forward(self, x, edge_index, edge_attr, batch):
            return global_add_pool(self.conv(x, edge_index, edge_attr), batch)

    edges = torch.tensor([[0, 1], [1, 2]])
    graph = Data(x=torch.ones(3, 4), edge_index=edges, edge_attr=torch.ones(2, 5))
    with pytest.raises(ModelError, match=r"`x` with 4 columns and `edge_attr` with 5 columns;"):
        eigsearch.explain(EdgeNet(), graph)


def test_model_call_features_that_do_not_fit_are_named_with_their_number() -> None:
    graph = Data(x=torch.ones(3, 9), edge_index=torch.tensor([[0, 1], [1, 2]]))
    with pytest.raises(ModelError, match=r"got `x` with 9 columns; torch says: mat1 and mat2"):
        eigsearch.explain(Small(), graph)


def _refuse_to_compile(*_: object) -> None:
    raise AssertionError("compiled")


def _compiled_in_place() -> nn.Module:
    model = Small()
    model.compile(backend=_refuse_to_compile)
    return model


def _with_a_compiled_layer() -> nn.Module:
    model = Small()
    name, layer = next(model.named_children())
    setattr(model, name, torch.compile(layer, backend=_refuse_to_compile))
    return model


@pytest.mark.parametrize(
    "compiled",
    [
        lambda: torch.compile(Small(), backend=_refuse_to_compile),
        _compiled_in_place,
        _with_a_compiled_layer,
    ],
)
def test_model_call_compiled_model_is_explained_without_compiling_it(compiled) -> None:
    graph = generate("BA-2Motifs").graphs[500]
    found = eigsearch.explain(compiled(), graph)
    assert torch.equal(found.edge_mask, eigsearch.explain(Small(), graph).edge_mask)


@pytest.mark.parametrize("compiled", [_compiled_in_place, _with_a_compiled_layer])
def test_model_call_leaves_what_was_compiled_as_it_was(compiled) -> None:
    graph, model = generate("BA-2Motifs").graphs[500], compiled()
    before = [dict(vars(module)) for module in model.modules()]
    eigsearch.explain(model, graph)
    assert [dict(vars(module)) for module in model.modules()] == before


class Overwrites(nn.Module):
    """Scales its features, in place or not."""

    def __init__(self, in_place: bool) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.head, self.in_place = GCNConv(4, 16), nn.Linear(16, 3), in_place

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        x = x.mul_(2.0).sub_(1.0) if self.in_place else x * 2.0 - 1.0
        return self.head(global_add_pool(self.conv(x, edge_index).relu(), batch))


@pytest.mark.parametrize("ranker", ["sa", "grad", "gradcam", "ig", "guided_bp", "gnnexplainer"])
def test_model_call_outside_inference_mode_features_may_be_overwritten(ranker: str) -> None:
    edges = torch.tensor([[0, 1, 1, 2, 2, 3, 3, 4, 4, 0], [1, 0, 2, 1, 3, 2, 4, 3, 0, 4]])
    graph = Data(x=torch.rand(5, 4, generator=torch.Generator().manual_seed(1)), edge_index=edges)
    scores = [
        eigsearch.explain(Overwrites(in_place).eval(), graph, ranker=ranker).edge_score
        for in_place in (True, False)
    ]
    torch.testing.assert_close(*scores, rtol=1e-6, atol=1e-9)


def test_find_modules_of_a_model_whose_layer_was_replaced_finds_the_new_one() -> None:
    graph, model = generate("BA-2Motifs").graphs[500], Small()
    call = ModelCall(model)
    assert call.found.registered == list(model.modules())
    name, layer = next(model.named_children())
    setattr(model, name, copy.deepcopy(layer))
    assert call.find_modules().registered == list(model.modules())
    getattr(model, name).register_forward_hook(lambda module, *_: setattr(module, "seen", 1))
    call.without_traces(Batch.from_data_list([graph]))
    assert not hasattr(getattr(model, name), "seen")
