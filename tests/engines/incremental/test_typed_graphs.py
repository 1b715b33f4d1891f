"""The incremental engine gives for typed graphs what the batched engine gives, or steps aside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric import nn as pyg
from torch_geometric.data import HeteroData

import eigsearch
from eigsearch import datasets
from eigsearch.engines import Request
from eigsearch.engines.incremental import IncrementalEngine, bags, pooling
from eigsearch.engines.incremental.index import state_table
from eigsearch.inference.eval_mode import eval_mode
from eigsearch.inference.model_call import ModelCall
from eigsearch.inputs.instance import PreparedInstance
from eigsearch.models import zoo
from tests.engines.incremental.test_engine import assert_same, candidate_sets
from tests.instances import field_of, prepare_graph, prepare_link, prepare_node
from tests.typed_nets import ENCODERS, WIDTH, GraphNet, LinkNet, NodeNet, make, shop

SERVED = ["HeteroConv SAGE", "HeteroConv GAT", "to_hetero"]
LINK = (("user", 0), ("item", 2))
KNOWS = ("user", "knows", "user")


def requests(kind: type[NodeNet], model: Any, data: HeteroData) -> list[Request]:
    instances: dict[type[NodeNet], Callable[[], PreparedInstance]] = {
        NodeNet: lambda: prepare_node(data, ("user", 0), field_of(model)),
        LinkNet: lambda: prepare_link(data, LINK, field_of(model)),
        GraphNet: lambda: prepare_graph(data),
    }
    return candidate_sets(instances[kind]())


@pytest.mark.parametrize("kind", [NodeNet, LinkNet, GraphNet])
@pytest.mark.parametrize("encoder", SERVED)
def test_typed_encoder_gives_on_states_what_it_gives_on_graphs(
    encoder: str, kind: type[NodeNet]
) -> None:
    model = make(kind, encoder)
    assert_same(model, requests(kind, model, shop()))


@pytest.mark.parametrize("kind", [NodeNet, LinkNet, GraphNet])
@pytest.mark.parametrize("module", [bags, state_table])
def test_typed_rows_at_hubs_and_of_large_graphs_are_those_of_small_ones(
    kind: type[NodeNet], module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_HUB" if module is bags else "_DENSE", 0)
    model = make(kind, "HeteroConv SAGE")
    assert_same(model, requests(kind, model, shop()))


class Layers(nn.Module):
    """Two layers of one kind with a residual, whatever they do with relations."""

    def __init__(self, layer: Callable[[], nn.Module]) -> None:
        super().__init__()
        sizes = {"user": 3, "item": 4, "tag": 2}
        self.embed = nn.ModuleDict({kind: nn.Linear(n, WIDTH) for kind, n in sizes.items()})
        self.layers = nn.ModuleList([layer(), layer()])

    def forward(self, x_dict: Any, edge_index_dict: Any, **given: Any) -> Any:
        h = {kind: self.embed[kind](x).tanh() for kind, x in x_dict.items()}
        for layer in self.layers:
            found = layer(h, edge_index_dict, **given)
            h = {kind: value + found[kind].tanh() for kind, value in h.items() if kind in found}
        return h


def convs(aggr: str | None, **own: Callable[[], nn.Module]) -> Callable[[], nn.Module]:
    """Return what makes a `HeteroConv` of SAGEConv, with other layers for relations named so."""
    return lambda: pyg.HeteroConv(
        {
            kind: own[kind[1]]() if kind[1] in own else pyg.SAGEConv(WIDTH, WIDTH)
            for kind in shop().edge_types
        },
        aggr=aggr,
    )


def with_loops() -> nn.Module:
    return pyg.GATConv(WIDTH, WIDTH, heads=2, concat=False)


def gine() -> nn.Module:
    return pyg.GINEConv(nn.Linear(WIDTH, WIDTH), edge_dim=2)


LAYERS: dict[str, Callable[[], nn.Module]] = {
    "mean of relations": convs("mean"),
    "largest of relations": convs("max"),
    "smallest of relations": convs("min"),
    "GCN of one type": convs("sum", knows=lambda: pyg.GCNConv(WIDTH, WIDTH)),
    "GAT with self-loops": convs("sum", knows=with_loops),
    "GATv2": convs("sum", marks=lambda: pyg.GATv2Conv((WIDTH, WIDTH), WIDTH, add_self_loops=False)),
    "GraphConv": convs("sum", buys=lambda: pyg.GraphConv((WIDTH, WIDTH), WIDTH, aggr="max")),
    "Transformer": convs("sum", owns=lambda: pyg.TransformerConv(WIDTH, WIDTH)),
    "GIN of one type": convs("sum", knows=lambda: pyg.GINConv(nn.Linear(WIDTH, WIDTH))),
}


class Tables(nn.Module):
    """Adds up what relations send, by hand, in dicts."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = pyg.SAGEConv(WIDTH, WIDTH, aggr="sum")

    def forward(self, x_dict: Any, edge_index_dict: Any) -> Any:
        out = {kind: torch.zeros_like(x) for kind, x in x_dict.items()}
        for (source, _, target), edge_index in edge_index_dict.items():
            row, col = edge_index
            message = self.conv.lin_l(x_dict[source])[row] * 0.3
            out[target] = out[target].index_add(0, col, message)
        return out


LAYERS["by hand"] = Tables


def reading(layer: Callable[[], nn.Module], kind: type[NodeNet]) -> Any:
    torch.manual_seed(2)
    return kind(Layers(layer)).double().eval()


@pytest.mark.parametrize("kind", [NodeNet, LinkNet])
@pytest.mark.parametrize("layer", LAYERS)
def test_typed_layer_gives_on_states_what_it_gives_on_graphs(
    layer: str, kind: type[NodeNet]
) -> None:
    model = reading(LAYERS[layer], kind)
    assert_same(model, requests(kind, model, shop()))


class WithEdges(NodeNet):
    """Reads attributes of one edge type, and one of the graph."""

    def forward(
        self, x_dict: Any, edge_index_dict: Any, edge_attr_dict: Any, scale: Tensor
    ) -> Tensor:
        h = self.encoder(x_dict, edge_index_dict, edge_attr_dict=edge_attr_dict)
        return self.head(h["user"]) * scale.mean()


def test_typed_attributes_of_edges_and_of_the_graph_reach_the_model() -> None:
    data = shop()
    data[KNOWS].edge_attr = torch.arange(12.0, dtype=torch.float64).view(6, 2) / 7
    data.scale = torch.tensor([2.5], dtype=torch.float64)
    model = reading(convs("sum", knows=gine), WithEdges)
    assert_same(model, requests(NodeNet, model, data))


class OfObject(LinkNet):
    def forward(self, data: HeteroData) -> Tensor:
        links = data["user", "buys", "item"].edge_label_index
        return super().forward(data.x_dict, data.edge_index_dict, links)


def test_typed_model_that_takes_the_graph_reads_links_from_its_store() -> None:
    model = make(OfObject, "HeteroConv SAGE")
    assert_same(model, requests(LinkNet, model, shop()))


def test_typed_type_without_nodes_or_edges_stays_a_key() -> None:
    data = shop()
    data["tag"].x = data["tag"].x[:0]
    for kind in data.edge_types:
        if "tag" in kind:
            data[kind].edge_index = torch.zeros(2, 0, dtype=torch.long)
    for kind in (NodeNet, LinkNet):
        model = make(kind, "HeteroConv SAGE")
        assert_same(model, requests(kind, model, data))


def test_typed_requests_of_many_predictions_share_runs_in_pieces() -> None:
    model, data = make(LinkNet, "HeteroConv GAT"), shop()
    links = [(("user", u), ("item", i)) for u in range(4) for i in (0, 5)]
    instances = [prepare_link(data, link, field_of(model)) for link in links]
    asked = [r for instance in instances for r in candidate_sets(instance)]
    for max_rows in (None, 40):
        assert_same(model, asked, max_rows)


def test_typed_graphs_of_their_own_share_a_run() -> None:
    model = make(GraphNet, "HeteroConv SAGE")
    instances = [prepare_graph(shop(seed)) for seed in range(3)]
    assert_same(model, [r for instance in instances for r in candidate_sets(instance)])


class Mixes(NodeNet):
    """Adds states of items to those of users, by their numbers."""

    def forward(self, x_dict: Any, edge_index_dict: Any) -> Tensor:
        h = self.encoder(x_dict, edge_index_dict)
        return 4 * self.head(h["user"] + h["item"][: h["user"].size(0)])


class Transposed(NodeNet):
    def forward(self, x_dict: Any, edge_index_dict: Any) -> Tensor:
        h = self.encoder(x_dict, edge_index_dict)
        row, col = edge_index_dict["user", "buys", "item"]
        back = torch.zeros_like(h["user"]).index_add(0, row, h["item"][col])
        return 4 * self.head(h["user"] + back)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (make(NodeNet, "HGT"), "number of nodes or edges"),
        (make(NodeNet, "HAN"), "more than reduce the stack"),
        (make(Mixes, "HeteroConv SAGE"), "selects nodes or edges by their position"),
        (make(Transposed, "HeteroConv SAGE"), "at the sources of typed edges"),
    ],
)
def test_typed_model_that_is_not_served_is_refused_by_what_it_does(model: Any, reason: str) -> None:
    instance = prepare_node(shop(), ("user", 0), field_of(model))
    with eval_mode(model):
        assert reason in IncrementalEngine(ModelCall(model)).reason(instance)


@pytest.mark.parametrize("encoder", ENCODERS)
def test_typed_engines_find_the_same_subgraph(encoder: str) -> None:
    model, data = make(LinkNet, encoder), shop()
    fast, slow = (
        eigsearch.explain(model, data, link=LINK, engine=name)
        for name in ("incremental", "batched")
    )
    assert fast.engine == ("incremental" if encoder in SERVED else "batched")
    assert bool(fast.config["why_engine"]) is (encoder not in SERVED)
    torch.testing.assert_close(fast.score, slow.score, atol=1e-5, rtol=1e-5)
    assert all(torch.equal(fast.edge_mask[kind], slow.edge_mask[kind]) for kind in data.edge_types)


@pytest.mark.parametrize(("name", "subject"), [("Two-Ways", "link"), ("Typed-Motifs", "node")])
def test_typed_zoo_is_explained_alike_by_both_engines(name: str, subject: str) -> None:
    data = datasets.generate(name)[0]
    model, _ = zoo.load(name, "hetero")
    chosen: Any = ("center", torch.arange(4))
    if subject == "link":
        chosen = (("user", "item"), data.edge_label_index[:, :4])
    found = [
        list(eigsearch.explain_dataset(model, data, engine=engine, **{subject: chosen}))
        for engine in ("incremental", "batched")
    ]
    for fast, slow in zip(*found, strict=True):
        assert (fast.engine, slow.engine) == ("incremental", "batched")
        torch.testing.assert_close(fast.score, slow.score, atol=1e-4, rtol=1e-5)
        assert all(torch.equal(fast.edge_mask[k], slow.edge_mask[k]) for k in data.edge_types)


def test_typed_answer_that_is_wrong_hands_over_to_the_batched_engine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    honest = pooling._explained
    monkeypatch.setattr(pooling, "_explained", lambda c, e, w: honest(c, e, w).flip(0))
    model = make(LinkNet, "HeteroConv SAGE")
    ex = eigsearch.explain(model, shop(), link=LINK, engine="incremental")
    monkeypatch.undo()
    assert ex.engine == "batched"
    assert "depend on what else is in a batch" in ex.config["why_engine"]
    slow = eigsearch.explain(model, shop(), link=LINK, engine="batched")
    assert torch.equal(ex.score, slow.score)
