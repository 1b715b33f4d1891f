"""Small networks and graphs for the tests: every layer, pooling and output that people use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric import nn as pyg
from torch_geometric.data import Data
from torch_geometric.nn import (
    GATConv,
    GATv2Conv,
    GCNConv,
    GINConv,
    GINEConv,
    PNAConv,
    RGCNConv,
    SAGEConv,
    TransformerConv,
    aggr,
)

WIDTH, FEATURES, EDGE_FEATURES, RELATIONS = 8, 5, 3, 3


def mlp(inputs: int, outputs: int) -> nn.Module:
    return nn.Sequential(nn.Linear(inputs, outputs), nn.Tanh(), nn.Linear(outputs, outputs))


def pna(inputs: int, outputs: int) -> nn.Module:
    degrees = torch.tensor([1, 3, 4, 2, 1])
    return PNAConv(inputs, outputs, ["mean", "max", "std"], ["identity", "amplification"], degrees)


def cg(inputs: int, outputs: int) -> nn.Module:
    """Return a CGConv, which keeps the width; where it changes, another layer."""
    if inputs == outputs:
        return pyg.CGConv(inputs, EDGE_FEATURES)
    return GINEConv(mlp(inputs, outputs), edge_dim=EDGE_FEATURES)


# Each layer, and the edge-level argument that it takes.
CONVS: dict[str, tuple[Callable[[int, int], nn.Module], str | None]] = {
    "GCN": (GCNConv, None),
    "GCN weighted": (GCNConv, "edge_weight"),
    "GIN": (lambda i, o: GINConv(mlp(i, o)), None),
    "SAGE": (SAGEConv, None),
    "GAT": (lambda i, o: GATConv(i, o // 2, heads=2), None),
    "GATv2": (lambda i, o: GATv2Conv(i, o // 2, heads=2), None),
    "GINE": (lambda i, o: GINEConv(mlp(i, o), edge_dim=EDGE_FEATURES), "edge_attr"),
    "Transformer": (lambda i, o: TransformerConv(i, o, edge_dim=EDGE_FEATURES), "edge_attr"),
    "RGCN": (lambda i, o: RGCNConv(i, o, RELATIONS), "edge_type"),
    "PNA": (pna, None),
}

# Further ones, for the tests of engines alone.
MORE_CONVS: dict[str, tuple[Callable[[int, int], nn.Module], str | None]] = {
    "CG": (cg, "edge_attr"),
    "Edge": (lambda i, o: pyg.EdgeConv(mlp(2 * i, o)), None),
    "FeaSt": (lambda i, o: pyg.FeaStConv(i, o, heads=2), None),
    "FiLM": (pyg.FiLMConv, None),
    "FiLM of relations": (lambda i, o: pyg.FiLMConv(i, o, RELATIONS), "edge_type"),
    "GEN": (lambda i, o: pyg.GENConv(i, o, edge_dim=EDGE_FEATURES), "edge_attr"),
    "General": (lambda i, o: pyg.GeneralConv(i, o, EDGE_FEATURES, attention=True), "edge_attr"),
    "GMM": (lambda i, o: pyg.GMMConv(i, o, EDGE_FEATURES, kernel_size=2), "edge_attr"),
    "LE": (pyg.LEConv, "edge_weight"),
    "MF": (lambda i, o: pyg.MFConv(i, o, max_degree=4), None),
    "NN": (lambda i, o: pyg.NNConv(i, o, nn.Linear(EDGE_FEATURES, i * o)), "edge_attr"),
    "ResGated": (pyg.ResGatedGraphConv, None),
}

POOLS: dict[str, Callable[[], nn.Module]] = {
    "sum": aggr.SumAggregation,
    "mean": aggr.MeanAggregation,
    "max": aggr.MaxAggregation,
    "attention": lambda: aggr.AttentionalAggregation(nn.Linear(WIDTH, 1)),
}

ENDS: dict[str, Callable[[Tensor], Tensor]] = {
    "raw": lambda out: out,
    "log_probs": lambda out: out.log_softmax(dim=-1),
    "probs": lambda out: out.softmax(dim=-1),
    "sigmoid": torch.sigmoid,
}


class Net(nn.Module):
    """Two layers of one kind, and a head for graphs (with a pooling) or for nodes (without)."""

    def __init__(
        self, conv: str = "GIN", pool: str | None = "sum", outputs: int = 3, end: str = "raw"
    ) -> None:
        super().__init__()
        make, self.extra = {**CONVS, **MORE_CONVS}[conv]
        self.convs = nn.ModuleList([make(FEATURES, WIDTH), make(WIDTH, WIDTH)])
        self.pool = None if pool is None else POOLS[pool]()
        self.head = nn.Linear(WIDTH, outputs)
        self.end = ENDS[end]

    def forward(
        self,
        x: Tensor,
        edge_index: Tensor,
        edge_attr: Tensor | None = None,
        edge_weight: Tensor | None = None,
        edge_type: Tensor | None = None,
        batch: Tensor | None = None,
    ) -> Tensor:
        offered = {"edge_attr": edge_attr, "edge_weight": edge_weight, "edge_type": edge_type}
        extra = {} if self.extra is None else {self.extra: offered[self.extra]}
        for conv in self.convs:
            x = conv(x, edge_index, **extra).tanh()
        if self.pool is not None:
            x = self.pool(x, x.new_zeros(x.size(0)).long() if batch is None else batch)
        return self.end(self.head(x))


def make_net(
    conv: str = "GIN",
    pool: str | None = "sum",
    outputs: int = 3,
    end: str = "raw",
    seed: int = 0,
) -> Net:
    """Return a network in double precision whose outputs differ clearly between candidates."""
    torch.manual_seed(seed)
    return vivid(Net(conv, pool, outputs, end))


def vivid(model: Any) -> Any:
    """Scale weights up so that an untrained model has opinions, in double precision."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1.6)
    return model.double().eval()


def predict(model: nn.Module) -> Callable[[Data], Tensor]:
    """Return a callable that asks a `Net` about one graph, for the slow twin."""
    names = ("edge_attr", "edge_weight", "edge_type")
    return lambda data: model(
        data.x, data.edge_index, **{name: data[name] for name in names if name in data}
    )


def attributed(pairs: Sequence[tuple[int, int]], num_nodes: int, seed: int = 0) -> Data:
    """Return the undirected graph of some pairs, with every attribute that the networks read."""
    generator = torch.Generator().manual_seed(seed)
    edge = torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).t()
    both = torch.cat([edge, edge.flip(0)], dim=1)
    pick = torch.arange(edge.size(1)).repeat(2)
    loops = both[0] == both[1]
    loops[: edge.size(1)] = False  # a self-loop has one direction
    both, pick = both[:, ~loops], pick[~loops]

    def noise(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    return Data(
        x=noise(num_nodes, FEATURES),
        edge_index=both,
        edge_attr=noise(edge.size(1), EDGE_FEATURES)[pick],
        edge_weight=noise(edge.size(1)).abs()[pick] + 0.1,
        edge_type=torch.randint(RELATIONS, (edge.size(1),), generator=generator)[pick],
    )


HOUSE = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4), (2, 5), (5, 6), (6, 7)]


def house(seed: int = 0) -> Data:
    """Return a house with a tail: two cycles, a path, and one node without edges."""
    return attributed(HOUSE, 9, seed)
