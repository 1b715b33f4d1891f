"""Small networks and graphs with types, for the tests: every layer that people use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import HeteroData
from torch_geometric.nn import GATConv, HANConv, HeteroConv, HGTConv, SAGEConv, to_hetero

EdgeType = tuple[str, str, str]
WIDTH = 6
GROUPS = 7 + 3 + 4 + 2  # of the graph below: an edge with its reverse is one
REVERSE: dict[EdgeType, EdgeType] = {
    ("user", "buys", "item"): ("item", "rev_buys", "user"),
    ("item", "rev_buys", "user"): ("user", "buys", "item"),
    ("user", "knows", "user"): ("user", "knows", "user"),
}


def shop(seed: int = 0) -> HeteroData:
    """Users who buy items and know each other, and tags; only the first two have reverses."""
    rng = torch.Generator().manual_seed(seed)
    data = HeteroData()
    for kind, count, features in (("user", 5, 3), ("item", 6, 4), ("tag", 3, 2)):
        data[kind].x = torch.randn(count, features, generator=rng, dtype=torch.float64)
    buys = torch.tensor([[0, 0, 1, 2, 2, 3, 4], [0, 1, 1, 2, 3, 4, 5]])
    data["user", "buys", "item"].edge_index = buys
    data["item", "rev_buys", "user"].edge_index = buys.flip(0)
    knows = torch.tensor([[0, 1, 1, 2, 3, 4], [1, 0, 2, 1, 4, 3]])
    data["user", "knows", "user"].edge_index = knows
    data["tag", "marks", "item"].edge_index = torch.tensor([[0, 0, 1, 2], [0, 1, 1, 5]])
    data["user", "owns", "tag"].edge_index = torch.tensor([[0, 3], [0, 2]])
    return data


class _Sage(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = SAGEConv((-1, -1), WIDTH)
        self.conv2 = SAGEConv((-1, -1), WIDTH)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.conv2(self.conv1(x, edge_index).tanh(), edge_index).tanh()


class _Stack(nn.Module):
    """Layers that take and give dicts; types that a layer leaves out keep their states."""

    def __init__(self, layers: list[nn.Module], data: HeteroData) -> None:
        super().__init__()
        self.embed = nn.ModuleDict(
            {kind: nn.Linear(data[kind].num_features, WIDTH) for kind in data.node_types}
        )
        self.layers = nn.ModuleList(layers)

    def forward(self, x: dict[str, Tensor], edge_index: dict[EdgeType, Tensor]) -> Any:
        h = {kind: self.embed[kind](value).tanh() for kind, value in x.items()}
        for layer in self.layers:
            found = {kind: v for kind, v in layer(h, edge_index).items() if v is not None}
            h = {**h, **{kind: value.tanh() for kind, value in found.items()}}
        return h


def _hetero_conv(make: Callable[[], nn.Module], data: HeteroData) -> nn.Module:
    return HeteroConv({kind: make() for kind in data.edge_types}, aggr="sum")


def gat() -> nn.Module:
    return GATConv((WIDTH, WIDTH), WIDTH, add_self_loops=False)


ENCODERS: dict[str, Callable[[HeteroData], nn.Module]] = {
    "HeteroConv SAGE": lambda data: _Stack(
        [_hetero_conv(lambda: SAGEConv(WIDTH, WIDTH), data) for _ in range(2)], data
    ),
    "HeteroConv GAT": lambda data: _Stack([_hetero_conv(gat, data) for _ in range(2)], data),
    "HGT": lambda data: _Stack(
        [HGTConv(WIDTH, WIDTH, data.metadata(), heads=2) for _ in range(2)], data
    ),
    "HAN": lambda data: _Stack([HANConv(WIDTH, WIDTH, data.metadata(), heads=2)], data),
    "to_hetero": lambda data: to_hetero(_Sage(), data.metadata()),
}


class NodeNet(nn.Module):
    """Class scores of the users."""

    def __init__(self, encoder: nn.Module, classes: int = 3) -> None:
        super().__init__()
        self.encoder, self.head = encoder, nn.Linear(WIDTH, classes)

    def forward(self, x_dict: dict[str, Tensor], edge_index_dict: dict[EdgeType, Tensor]) -> Tensor:
        return 4 * self.head(self.encoder(x_dict, edge_index_dict)["user"])


class LinkNet(NodeNet):
    """The log-odds of links from users to items."""

    def forward(
        self,
        x_dict: dict[str, Tensor],
        edge_index_dict: dict[EdgeType, Tensor],
        edge_label_index: Tensor,
    ) -> Tensor:
        h = self.encoder(x_dict, edge_index_dict)
        return 4 * (h["user"][edge_label_index[0]] * h["item"][edge_label_index[1]]).sum(-1)


class GraphNet(NodeNet):
    """Class scores of graphs, from the mean of the users and of the items."""

    def forward(
        self,
        x_dict: dict[str, Tensor],
        edge_index_dict: dict[EdgeType, Tensor],
        batch_dict: dict[str, Tensor],
    ) -> Tensor:
        from torch_geometric.nn import global_mean_pool

        h = self.encoder(x_dict, edge_index_dict)
        size = int(max(b.max() for b in batch_dict.values() if b.numel())) + 1
        pooled = [global_mean_pool(h[kind], batch_dict[kind], size) for kind in ("user", "item")]
        return 4 * self.head(sum(pooled))


def make(kind: type[NodeNet], encoder: str, data: HeteroData | None = None) -> Any:
    """Return a network in double precision, with its lazy layers made."""
    torch.manual_seed(1)
    data = shop() if data is None else data
    model = kind(ENCODERS[encoder](data)).double().eval()
    with torch.no_grad():
        model.encoder(data.x_dict, data.edge_index_dict)
    return model.double()
