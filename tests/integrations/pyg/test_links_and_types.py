"""Links and typed graphs in PyG's `Explainer`, in the shapes of PyG's own tests."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import HeteroData
from torch_geometric.explain import Explainer, HeteroExplanation
from torch_geometric.nn import GCNConv, HANConv, HeteroConv, HGTConv, SAGEConv, to_hetero

import eigsearch
from eigsearch.errors import InputError, UnsupportedError

TYPES = [("paper", "cites", "paper"), ("paper", "by", "author"), ("author", "writes", "paper")]
SIZES = {"paper": 8, "author": 10}


def typed_graph(authors: int = 10, seed: int = 0) -> HeteroData:
    draw = torch.Generator().manual_seed(seed)
    data, sizes = HeteroData(), {**SIZES, "author": authors}
    data["paper"].x = torch.randn(8, 16, generator=draw)
    data["author"].x = torch.randn(authors, 8, generator=draw)
    for source, relation, target in TYPES:
        ends = [torch.randint(sizes[kind], (10,), generator=draw) for kind in (source, target)]
        data[source, relation, target].edge_index = torch.stack(ends)
    return data


class SAGE(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = SAGEConv((-1, -1), 16), SAGEConv((-1, -1), 16)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.conv2(self.conv1(x, edge_index).relu(), edge_index).relu()


class HeteroConvLayers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([self._layer(), self._layer()])

    def _layer(self) -> HeteroConv:
        own, others = GCNConv(-1, 16), {kind: SAGEConv((-1, -1), 16) for kind in TYPES[1:]}
        return HeteroConv({TYPES[0]: own, **others})

    def forward(self, x: Any, edge_index: Any) -> Any:
        for layer in self.layers:
            x = {kind: state.relu() for kind, state in layer(x, edge_index).items()}
        return x


class Native(nn.Module):
    def __init__(self, conv: Any) -> None:
        super().__init__()
        data = typed_graph()
        self.embed = nn.ModuleDict({k: nn.LazyLinear(16) for k in data.node_types})
        self.conv = conv(16, 16, data.metadata(), heads=2)

    def forward(self, x: Any, edge_index: Any) -> Any:
        return self.conv({k: self.embed[k](v).relu() for k, v in x.items()}, edge_index)


class Head(nn.Module):
    """A row of scores for each paper, or for each pair (author, paper)."""

    def __init__(self, layers: nn.Module, classes: int = 3) -> None:
        super().__init__()
        self.layers, self.head = layers, nn.Linear(16, classes)

    def forward(self, x_dict: Any, edge_index_dict: Any, edge_label_index: Any = None) -> Tensor:
        x = self.layers(x_dict, edge_index_dict)
        if edge_label_index is None:
            return self.head(x["paper"])
        u, v = edge_label_index
        return self.head(x["author"][u] * x["paper"][v])


def typed_model(name: str) -> nn.Module:
    torch.manual_seed(1)
    layers = {
        "to_hetero": lambda: to_hetero(SAGE(), typed_graph().metadata()),
        "HeteroConv": HeteroConvLayers,
        "HGT": lambda: Native(HGTConv),
        "HAN": lambda: Native(HANConv),
    }
    model = Head(layers[name]())
    data = typed_graph()
    with torch.no_grad():
        model(data.x_dict, data.edge_index_dict)  # lazy layers
    return model.eval()


def explainer(model: nn.Module, level: str, mode: str = "multiclass_classification") -> Explainer:
    return Explainer(
        model,
        algorithm=eigsearch.EiGSearch(),
        explanation_type="model",
        edge_mask_type="object",
        model_config={"mode": mode, "task_level": level, "return_type": "raw"},
    )


def check(explanation: HeteroExplanation, data: HeteroData) -> None:
    assert isinstance(explanation, HeteroExplanation)
    assert explanation.validate(True)
    for kind in data.edge_types:
        mask = explanation[kind].edge_mask
        assert mask.is_floating_point()
        assert mask.shape == (data[kind].num_edges,)
        assert set(mask.tolist()) <= {0.0, 1.0}
    for kind in data.node_types:
        mask = explanation[kind].node_mask
        assert mask.shape == (data[kind].num_nodes, 1)


@pytest.mark.parametrize("name", ["to_hetero", "HeteroConv", "HGT", "HAN"])
def test_explainer_of_typed_nodes_gives_what_explain_gives(name: str) -> None:
    model, data = typed_model(name), typed_graph()
    found = explainer(model, "node")(data.x_dict, data.edge_index_dict, index=2)
    check(found, data)
    alone = eigsearch.explain(model, data, node=("paper", 2), return_type="raw", task="multiclass")
    for kind in data.edge_types:
        assert torch.equal(found[kind].edge_mask > 0, alone.edge_mask[kind])
    assert found.gain == pytest.approx(alone.gain)


@pytest.mark.parametrize("name", ["to_hetero", "HGT", "HAN"])
@pytest.mark.parametrize("index", [None, 1, torch.tensor([0, 2])])
def test_explainer_of_typed_links_finds_the_types_of_ends(name: str, index: Any) -> None:
    model, data = typed_model(name), typed_graph()
    links = torch.tensor([[0, 9, 2], [3, 4, 5]])
    found = explainer(model, "edge")(
        data.x_dict, data.edge_index_dict, edge_label_index=links, index=index
    )
    check(found, data)
    rows = [0, 1, 2] if index is None else torch.as_tensor(index).reshape(-1).tolist()
    ends = [(("author", int(links[0, r])), ("paper", int(links[1, r]))) for r in rows]
    assert [one.link for one in found.details] == ends
    alone = eigsearch.explain(model, data, link=ends[0], task="multiclass", return_type="raw")
    assert found.details[0].gain == pytest.approx(alone.gain)


def test_explainer_of_equally_many_nodes_tells_types_by_their_features() -> None:
    model, data = typed_model("to_hetero"), typed_graph(authors=8)
    nodes = explainer(model, "node")(data.x_dict, data.edge_index_dict, index=1)
    assert nodes.details[0].node == ("paper", 1)
    pair = torch.tensor([4, 4])
    links = explainer(model, "edge")(data.x_dict, data.edge_index_dict, edge_label_index=pair)
    assert links.details[0].link == (("author", 4), ("paper", 4))


def test_explainer_of_types_that_cannot_be_told_apart_names_them() -> None:
    model, data = typed_model("to_hetero"), typed_graph(authors=8)

    class Constant(nn.Module):
        def forward(self, x_dict: Any, edge_index_dict: Any) -> Tensor:
            return model(x_dict, edge_index_dict).detach() * 0

    with pytest.raises(InputError, match="paper and author could be"):
        explainer(Constant(), "node")(data.x_dict, data.edge_index_dict, index=1)


def test_complement_of_a_typed_explanation_loses_the_chosen_edges_alone() -> None:
    model, data = typed_model("HGT"), typed_graph()
    found = explainer(model, "node")(data.x_dict, data.edge_index_dict, index=2)
    rest, chosen = found.get_complement_subgraph(), found.get_explanation_subgraph()
    for kind in data.edge_types:
        size = int(found[kind].edge_mask.sum())
        assert chosen[kind].num_edges == size
        assert rest[kind].num_edges == data[kind].num_edges - size


def test_to_pyg_of_a_typed_explanation_is_valid_and_comes_back() -> None:
    model, data = typed_model("HeteroConv"), typed_graph()
    ex = eigsearch.explain(model, data, node=("paper", 2), task="multiclass", return_type="raw")
    found = ex.to_pyg()
    check(found, data)
    assert eigsearch.SubgraphExplanation.from_pyg(found) is ex
    assert "edge_mask" not in data[TYPES[0]]


class Links(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv = SAGEConv(3, 16)

    def forward(self, x: Tensor, edge_index: Tensor, edge_label_index: Tensor) -> Tensor:
        z = self.conv(x, edge_index)
        return (z[edge_label_index[0]] * z[edge_label_index[1]]).sum(dim=-1)


class RenamedLinks(Links):
    def forward(self, x: Tensor, edge_index: Tensor, pair_index: Tensor) -> Tensor:
        return super().forward(x, edge_index, pair_index)


X = torch.randn(8, 3, generator=torch.Generator().manual_seed(2))
EDGES = torch.tensor([[0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 0],
                      [1, 0, 2, 1, 3, 2, 4, 3, 5, 4, 6, 5, 7, 6, 0, 7]])  # fmt: skip


@pytest.mark.parametrize("index", [None, 2, torch.arange(3)])
def test_explainer_of_links_takes_index_of_every_form(index: Any) -> None:
    model = Links().eval()
    links = torch.tensor([[0, 1, 2], [3, 4, 5]])
    found = explainer(model, "edge", "binary_classification")(
        X, EDGES, edge_label_index=links, index=index
    )
    rows = [0, 1, 2] if index is None else torch.as_tensor(index).reshape(-1).tolist()
    assert [one.link for one in found.details] == [tuple(links[:, r].tolist()) for r in rows]
    assert found.edge_mask.shape == (16,)
    assert found.validate(True)


@pytest.mark.parametrize("model", [Links(), RenamedLinks()], ids=["named", "renamed"])
def test_explainer_of_one_pair_gives_what_explain_gives(model: nn.Module) -> None:
    name = "edge_label_index" if type(model) is Links else "pair_index"
    found = explainer(model.eval(), "edge", "binary_classification")(
        X, EDGES, **{name: torch.tensor([0, 2])}
    )
    from torch_geometric.data import Data

    alone = eigsearch.explain(
        model, Data(x=X, edge_index=EDGES), link=(0, 2), task="binary", return_type="raw"
    )
    assert torch.equal(found.edge_mask > 0, alone.edge_mask)
    assert found.gain == pytest.approx(alone.gain, abs=1e-6)


def test_explainer_of_links_in_a_batch_names_them_in_their_graph() -> None:
    model = Links().eval()
    x, edges = torch.cat([X, X]), torch.cat([EDGES, EDGES + 8], dim=1)

    class Batched(Links):
        def forward(self, x, edge_index, edge_label_index, batch=None):
            return super().forward(x, edge_index, edge_label_index)

    batched = Batched().eval()
    batched.load_state_dict(model.state_dict())
    found = explainer(batched, "edge", "binary_classification")(
        x,
        edges,
        edge_label_index=torch.tensor([[0, 9], [2, 12]]),
        batch=torch.arange(2).repeat_interleave(8),
    )
    assert [one.link for one in found.details] == [(0, 2), (1, 4)]
    assert not found.edge_mask[:16].equal(torch.zeros(16))


def test_explainer_of_links_without_links_asks_for_them() -> None:
    class Quiet(nn.Module):
        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            return x.sum(dim=1)

    with pytest.raises(InputError, match="edge_label_index"):
        explainer(Quiet(), "edge", "binary_classification")(X, EDGES)


def test_explainer_of_links_of_a_wrong_shape_says_so() -> None:
    class Any3(Links):
        def forward(self, x: Tensor, edge_index: Tensor, edge_label_index: Tensor) -> Tensor:
            return super().forward(x, edge_index, edge_label_index[:2])

    with pytest.raises(InputError, match=r"shape \[2\] or \[2, L\]"):
        explainer(Any3(), "edge", "binary_classification")(
            X, EDGES, edge_label_index=torch.tensor([[0], [1], [2]])
        )


def test_explainer_of_no_link_at_all_says_so() -> None:
    none = torch.zeros(2, 0, dtype=torch.long)
    with pytest.raises(InputError, match="at least one link"):
        explainer(Links(), "edge", "binary_classification")(X, EDGES, edge_label_index=none)
    model, data = typed_model("HGT"), typed_graph()
    with pytest.raises(InputError, match="at least one link"):
        explainer(model, "edge")(data.x_dict, data.edge_index_dict, edge_label_index=none)


def test_explainer_of_features_of_a_typed_graph_is_refused() -> None:
    model, data = typed_model("HGT"), typed_graph()
    own = Explainer(
        model,
        algorithm=eigsearch.EiGSearch(),
        explanation_type="model",
        node_mask_type="object",
        edge_mask_type="object",
        model_config={
            "mode": "multiclass_classification",
            "task_level": "node",
            "return_type": "raw",
        },
    )
    with pytest.raises(UnsupportedError, match="node_mask_type"):
        own(data.x_dict, data.edge_index_dict, index=0)
