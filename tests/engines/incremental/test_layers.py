"""PyG's layers, norms, aggregations and models give on states what they give on graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric import nn as pyg
from torch_geometric.data import Data
from torch_geometric.nn import aggr

from eigsearch.engines.incremental import IncrementalEngine, NotServed
from eigsearch.inference.eval_mode import eval_mode
from eigsearch.inference.model_call import ModelCall
from tests.engines.incremental.test_engine import assert_same, candidate_sets
from tests.instances import prepare_graph, prepare_node
from tests.nets import (
    EDGE_FEATURES,
    FEATURES,
    HOUSE,
    RELATIONS,
    WIDTH,
    attributed,
    house,
    mlp,
    pna,
    vivid,
)

Make = Callable[[int, int], nn.Module]


def looped() -> Data:
    """Return a graph with self-loops of its own."""
    return attributed([*HOUSE, (3, 3), (6, 6)], 9)


GRAPHS = {
    "undirected": lambda: prepare_graph(house(), "auto"),
    "directed": lambda: prepare_graph(house(), "directed"),
    "self-loops": lambda: prepare_graph(looped(), "auto"),
}


class Net(nn.Module):
    """Two layers between a linear one and a head, which takes every argument that it is given."""

    def __init__(self, make: Make, extra: str | None = None, pool: Any = None) -> None:
        super().__init__()
        self.lin = nn.Linear(FEATURES, WIDTH)
        self.convs = nn.ModuleList([make(WIDTH, WIDTH), make(WIDTH, WIDTH)])
        self.head, self.extra, self.pool = nn.Linear(WIDTH, 3), extra, pool

    def forward(
        self,
        x: Tensor,
        edge_index: Tensor,
        edge_attr: Tensor | None = None,
        edge_weight: Tensor | None = None,
        edge_type: Tensor | None = None,
        batch: Tensor | None = None,
    ) -> Tensor:
        given = {"edge_attr": edge_attr, "edge_weight": edge_weight, "edge_type": edge_type}
        extra = {} if self.extra is None else {self.extra: given[self.extra]}
        first = x = self.lin(x)
        for conv in self.convs:
            if isinstance(conv, (pyg.GCN2Conv, pyg.FAConv)):
                x = conv(x, first, edge_index).tanh()
            else:
                x = conv(x, edge_index, **extra).tanh()
        pool = self.pool or pyg.global_add_pool
        return self.head(pool(x, batch))


LAYERS: dict[str, tuple[Make, str | None]] = {
    "AGNN": (lambda i, o: pyg.AGNNConv(), None),
    "AntiSymmetric": (lambda i, o: pyg.AntiSymmetricConv(i), None),
    "APPNP": (lambda i, o: pyg.APPNP(2, 0.1), None),
    "CG": (lambda i, o: pyg.CGConv(i, EDGE_FEATURES), "edge_attr"),
    "Cheb": (lambda i, o: pyg.ChebConv(i, o, K=3), None),
    "Cheb of random walks": (lambda i, o: pyg.ChebConv(i, o, K=3, normalization="rw"), None),
    "ClusterGCN": (lambda i, o: pyg.ClusterGCNConv(i, o, diag_lambda=0.3), None),
    "DirGNN": (lambda i, o: pyg.DirGNNConv(pyg.SAGEConv(i, o)), None),
    "DirGNN of GCN": (lambda i, o: pyg.DirGNNConv(pyg.GCNConv(i, o)), None),
    "Edge": (lambda i, o: pyg.EdgeConv(mlp(2 * i, o)), None),
    "EG": (
        lambda i, o: pyg.EGConv(
            i, o, ["sum", "mean", "symnorm", "max", "std"], num_heads=4, num_bases=2
        ),
        None,
    ),
    "FA": (lambda i, o: pyg.FAConv(i), None),
    "FeaSt": (lambda i, o: pyg.FeaStConv(i, o, heads=2), None),
    "FiLM": (pyg.FiLMConv, None),
    "FiLM of relations": (lambda i, o: pyg.FiLMConv(i, o, RELATIONS), "edge_type"),
    "GAT": (lambda i, o: pyg.GATConv(i, o // 2, heads=2), None),
    "GAT of edges": (lambda i, o: pyg.GATConv(i, o, edge_dim=EDGE_FEATURES), "edge_attr"),
    "GATv2": (lambda i, o: pyg.GATv2Conv(i, o // 2, heads=2), None),
    "GatedGraph": (lambda i, o: pyg.GatedGraphConv(o, 2), None),
    "GCN": (pyg.GCNConv, None),
    "GCN backwards": (lambda i, o: pyg.GCNConv(i, o, flow="target_to_source"), None),
    "GCN improved": (lambda i, o: pyg.GCNConv(i, o, improved=True), "edge_weight"),
    "GCN weighted": (pyg.GCNConv, "edge_weight"),
    "GCN2": (lambda i, o: pyg.GCN2Conv(i, 0.1), None),
    "GEN": (lambda i, o: pyg.GENConv(i, o, edge_dim=EDGE_FEATURES), "edge_attr"),
    "General": (lambda i, o: pyg.GeneralConv(i, o, EDGE_FEATURES, attention=True), "edge_attr"),
    "GIN": (lambda i, o: pyg.GINConv(mlp(i, o), train_eps=True), None),
    "GIN backwards": (lambda i, o: pyg.GINConv(mlp(i, o), flow="target_to_source"), None),
    "GINE": (lambda i, o: pyg.GINEConv(mlp(i, o), edge_dim=EDGE_FEATURES), "edge_attr"),
    "GMM": (lambda i, o: pyg.GMMConv(i, o, EDGE_FEATURES, kernel_size=2), "edge_attr"),
    "Graph": (pyg.GraphConv, None),
    "Graph weighted": (lambda i, o: pyg.GraphConv(i, o, aggr="max"), "edge_weight"),
    "LE": (pyg.LEConv, "edge_weight"),
    "LG": (lambda i, o: pyg.LGConv(), None),
    "MixHop": (lambda i, o: pyg.MixHopConv(i, o // 2, powers=[0, 1]), None),
    "NN": (lambda i, o: pyg.NNConv(i, o, nn.Linear(EDGE_FEATURES, i * o)), "edge_attr"),
    "PNA": (pna, None),
    "ResGated": (pyg.ResGatedGraphConv, None),
    "RGCN": (lambda i, o: pyg.RGCNConv(i, o, RELATIONS), "edge_type"),
    "SAGE": (lambda i, o: pyg.SAGEConv(i, o, project=True, normalize=True), None),
    "SG": (lambda i, o: pyg.SGConv(i, o, K=2), None),
    "Simple": (lambda i, o: pyg.SimpleConv("mean", "self_loop"), None),
    "SSG": (lambda i, o: pyg.SSGConv(i, o, alpha=0.1, K=2), None),
    "SuperGAT": (lambda i, o: pyg.SuperGATConv(i, o // 2, heads=2), None),
    "TAG": (lambda i, o: pyg.TAGConv(i, o, K=2), None),
    "Transformer": (
        lambda i, o: pyg.TransformerConv(i, o, edge_dim=EDGE_FEATURES, beta=True),
        "edge_attr",
    ),
}


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("layer", LAYERS)
def test_layer_on_states_equals_layer_on_graphs(layer: str, graph: str) -> None:
    torch.manual_seed(0)
    assert_same(vivid(Net(*LAYERS[layer])), candidate_sets(GRAPHS[graph]()))


class NodeNet(Net):
    """The same without a read-out."""

    def __init__(self, make: Make, extra: str | None = None) -> None:
        super().__init__(make, extra, lambda x, batch: x)


# A Chebyshev filter takes the largest entry of the Laplacian, also of nodes out of reach.
@pytest.mark.parametrize("layer", [name for name in LAYERS if not name.startswith("Cheb")])
def test_layer_for_one_node_equals_layer_on_graphs(layer: str) -> None:
    torch.manual_seed(0)
    assert_same(vivid(NodeNet(*LAYERS[layer])), candidate_sets(prepare_node(house(), 2)))


UNSERVED: dict[str, tuple[Make, str | None]] = {
    "ARMA": (lambda i, o: pyg.ARMAConv(i, o, num_stacks=2), None),
    "MF": (lambda i, o: pyg.MFConv(i, o, max_degree=4), None),
    "Cheb unnormalised": (lambda i, o: pyg.ChebConv(i, o, K=3, normalization=None), None),
    "LSTM": (lambda i, o: pyg.SAGEConv(i, o, aggr="lstm"), None),
    "median": (lambda i, o: pyg.SAGEConv(i, o, aggr="median"), None),
}


@pytest.mark.parametrize("layer", UNSERVED)
def test_layer_that_is_not_served_says_why(layer: str) -> None:
    model = vivid(Net(*UNSERVED[layer]))
    with (
        eval_mode(model),
        pytest.raises(NotServed, match=r"^`\w+`: The (model|incremental engine) .*\.$"),
    ):
        IncrementalEngine(ModelCall(model)).outputs(candidate_sets(GRAPHS["undirected"]()))


NORMS: dict[str, Callable[[], nn.Module]] = {
    "batch": lambda: nn.BatchNorm1d(WIDTH),
    "PyG's batch": lambda: pyg.BatchNorm(WIDTH),
    "layer": lambda: nn.LayerNorm(WIDTH),
    "PyG's layer": lambda: pyg.LayerNorm(WIDTH, mode="node"),
    "message": lambda: pyg.MessageNorm(),
    "group": lambda: nn.GroupNorm(2, WIDTH),
    "diff group": lambda: pyg.DiffGroupNorm(WIDTH, 2),
    "rms": lambda: nn.RMSNorm(WIDTH),
}


@pytest.mark.parametrize("norm", NORMS)
def test_incremental_engine_norm_that_works_row_by_row_is_served(norm: str) -> None:
    torch.manual_seed(0)
    module = NORMS[norm]()

    class Normed(nn.Module):
        def __init__(self, width: int, _: int) -> None:
            super().__init__()
            self.conv, self.norm = pyg.SAGEConv(width, width), module

        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            out = self.conv(x, edge_index)
            return self.norm(x, out) if norm == "message" else self.norm(out)

    assert_same(vivid(Net(Normed)), candidate_sets(GRAPHS["directed"]()))


@pytest.mark.parametrize(
    "norm", [pyg.GraphNorm, pyg.InstanceNorm, pyg.PairNorm, pyg.MeanSubtractionNorm]
)
def test_incremental_engine_norm_over_graphs_is_left_to_the_batched_engine(norm: Any) -> None:
    module = norm() if norm in (pyg.PairNorm, pyg.MeanSubtractionNorm) else norm(WIDTH)

    class Normed(Net):
        def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
            x = module.to(x.dtype)(self.convs[0](self.lin(x), edge_index), batch)
            return self.head(pyg.global_add_pool(self.convs[1](x, edge_index), batch))

    model = vivid(Normed(pyg.SAGEConv))
    with eval_mode(model):
        assert IncrementalEngine(ModelCall(model)).reason(GRAPHS["undirected"]())


AGGREGATIONS: dict[str, Any] = {
    "sum": "sum", "mean": "mean", "max": "max", "min": "min", "std": "std", "var": "var",
    "mul": "mul", "several": ["mean", "max", "min", "std"], "softmax": "softmax",
    "power mean": "powermean",
}  # fmt: skip


@pytest.mark.parametrize("graph", ["undirected", "directed"])
@pytest.mark.parametrize("name", AGGREGATIONS)
def test_aggregation_of_messages_equals_that_on_graphs(name: str, graph: str) -> None:
    torch.manual_seed(0)
    model = vivid(Net(lambda i, o: pyg.SAGEConv(i, o, aggr=AGGREGATIONS[name])))
    assert_same(model, candidate_sets(GRAPHS[graph]()))


POOLS: dict[str, Callable[[], Any]] = {
    "add": lambda: pyg.global_add_pool,
    "mean": lambda: pyg.global_mean_pool,
    "max": lambda: pyg.global_max_pool,
    "min": aggr.MinAggregation,
    "std": aggr.StdAggregation,
    "softmax": lambda: aggr.SoftmaxAggregation(learn=True),
    "attention": lambda: aggr.AttentionalAggregation(mlp(WIDTH, 1)),
    "gate for each feature": lambda: aggr.AttentionalAggregation(
        mlp(WIDTH, WIDTH), mlp(WIDTH, WIDTH)
    ),
    "deep sets": lambda: aggr.DeepSetsAggregation(mlp(WIDTH, WIDTH), mlp(WIDTH, WIDTH)),
}


@pytest.mark.parametrize("graph", ["undirected", "directed"])
@pytest.mark.parametrize("pool", POOLS)
def test_read_out_equals_that_on_graphs(pool: str, graph: str) -> None:
    torch.manual_seed(0)
    model = vivid(Net(pyg.GCNConv, pool=POOLS[pool]()))
    assert_same(model, candidate_sets(GRAPHS[graph]()))


class Pooled(nn.Module):
    """One of PyG's models, pooled."""

    def __init__(self, gnn: nn.Module, extra: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.gnn, self.extra = gnn, extra
        self.head = pyg.MLP([WIDTH, WIDTH, 3], norm="batch_norm")

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor, batch: Tensor) -> Tensor:
        if isinstance(self.gnn, pyg.AttentiveFP):
            return self.gnn(x, edge_index, edge_attr, batch)
        return self.head(pyg.global_mean_pool(self.gnn(x, edge_index), batch))


DEGREES = torch.tensor([1, 3, 4, 2, 1])
MODELS: dict[str, Callable[[], nn.Module]] = {
    "GCN": lambda: pyg.GCN(FEATURES, WIDTH, 2, norm="batch_norm", jk="cat", out_channels=WIDTH),
    "GIN": lambda: pyg.GIN(FEATURES, WIDTH, 3, jk="max"),
    "GAT": lambda: pyg.GAT(FEATURES, WIDTH, 2, heads=2, v2=True),
    "GraphSAGE": lambda: pyg.GraphSAGE(FEATURES, WIDTH, 2, act_first=True, norm="layer_norm",
                                       norm_kwargs={"mode": "node"}),
    "PNA": lambda: pyg.PNA(FEATURES, WIDTH, 2, aggregators=["mean", "std"],
                           scalers=["identity", "attenuation"], deg=DEGREES),
    "EdgeCNN": lambda: pyg.EdgeCNN(FEATURES, WIDTH, 2),
    "AttentiveFP": lambda: pyg.AttentiveFP(FEATURES, WIDTH, 3, EDGE_FEATURES, 2, 1),
}  # fmt: skip


@pytest.mark.parametrize("graph", ["undirected", "directed"])
@pytest.mark.parametrize("name", MODELS)
def test_model_of_pyg_equals_that_on_graphs(name: str, graph: str) -> None:
    torch.manual_seed(0)
    assert_same(vivid(Pooled(MODELS[name]())), candidate_sets(GRAPHS[graph]()))


class TakesData(nn.Module):
    """Takes the graphs as one object, and asks what they have."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.head = (
            pyg.GINEConv(mlp(FEATURES, WIDTH), edge_dim=EDGE_FEATURES),
            nn.Linear(WIDTH, 3),
        )

    def forward(self, data: Data) -> Tensor:
        x, edge_index, batch = data.x, data.edge_index, data.batch
        if data.edge_attr is not None and "pos" not in data and data.num_nodes > 0:
            x = self.conv(x, edge_index, data.edge_attr)
        return self.head(pyg.global_mean_pool(x, batch, size=data.num_graphs))


def test_model_that_takes_data_equals_that_on_graphs() -> None:
    torch.manual_seed(0)
    assert_same(vivid(TakesData()), candidate_sets(GRAPHS["directed"]()))
