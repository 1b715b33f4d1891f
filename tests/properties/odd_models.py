"""Models as users write them: fifteen bodies, ten endings, nine that mix the graphs of a call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric import nn as pyg
from torch_geometric.utils import to_dense_adj, to_dense_batch

from tests.nets import FEATURES

WIDTH = 6


class SumLayer(pyg.MessagePassing):
    """Ten lines of a user: L2-normalised inputs, plain sum."""

    def __init__(self, inputs: int = FEATURES, width: int = WIDTH) -> None:
        super().__init__(aggr="add")
        self.lin = nn.Linear(inputs, width)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.propagate(edge_index, x=self.lin(nn.functional.normalize(x)))


class PairLayer(pyg.MessagePassing):
    """Messages from both ends, own update."""

    def __init__(self, inputs: int = FEATURES, width: int = WIDTH) -> None:
        super().__init__(aggr="mean")
        self.mlp = nn.Sequential(nn.Linear(2 * inputs, width), nn.ReLU())
        self.own = nn.Linear(inputs, width)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.propagate(edge_index, x=x)

    def message(self, x_i: Tensor, x_j: Tensor) -> Tensor:
        return self.mlp(torch.cat([x_i, x_j - x_i], dim=-1))

    def update(self, inputs: Tensor, x: Tensor) -> Tensor:
        return inputs + self.own(x)


class ByHand(nn.Module):
    """Message passing with index_add, and a branch over shapes."""

    def __init__(self, inputs: int = FEATURES, width: int = WIDTH) -> None:
        super().__init__()
        self.lin = nn.Linear(inputs, width)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.lin(x) if x.shape[-1] == self.lin.in_features else x
        return torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]]) + h


class Dense(nn.Module):
    """Turns the graphs into one padded adjacency."""

    def __init__(self, inputs: int = FEATURES, width: int = WIDTH) -> None:
        super().__init__()
        self.lin = nn.Linear(inputs, width)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        h, mask = to_dense_batch(self.lin(x), batch)
        adj = to_dense_adj(edge_index, batch, max_num_nodes=h.size(1))
        return (adj.to(h.dtype).transpose(1, 2) @ h + h)[mask]


class Caching(nn.Module):
    """Keeps the degrees of the graph that it saw first."""

    def __init__(self, inputs: int = FEATURES, width: int = WIDTH) -> None:
        super().__init__()
        self.lin = nn.Linear(inputs, width)
        self.degree: Tensor | None = None

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        if self.degree is None:
            one = torch.ones(edge_index.size(1), dtype=x.dtype)
            self.degree = torch.zeros(x.size(0), dtype=x.dtype).index_add(0, edge_index[1], one)
        return self.lin(x) * (1 + self.degree)[:, None]


def _largest_stands_out(rows: Tensor) -> Tensor:
    return torch.where(rows == rows.amax(dim=0, keepdim=True), rows + 1, rows)


# What is done to the read-outs of a call, one row for each graph: each depends on the others.
MIXERS: dict[str, Callable[[Tensor], Tensor]] = {
    "centred": lambda rows: rows - 0.5 * rows.mean(dim=0, keepdim=True),
    "softmax over rows": lambda rows: 3 * rows * rows.softmax(dim=0),
    "divided by the largest": lambda rows: 4 * rows / (1 + rows.abs().max()),
    "running sum": lambda rows: rows.cumsum(dim=0),
    "divided by the number": lambda rows: 2 * rows / rows.size(0),
    "a little of all": lambda rows: rows + 0.05 * rows.sum(dim=0, keepdim=True),
    "the largest stands out": _largest_stands_out,
    "batch norm": lambda rows: nn.functional.batch_norm(torch.cat([rows, -rows]), None, None,
                                                        training=True)[: len(rows)],
    "turned": lambda rows: rows - 0.3 * rows.flip(0),
}  # fmt: skip


def _mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(FEATURES, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH))


BODIES: dict[str, Callable[[], nn.Module]] = {
    "gin": lambda: pyg.GINConv(_mlp()),
    "gcn": lambda: pyg.GCNConv(FEATURES, WIDTH),
    "gcn cached": lambda: pyg.GCNConv(FEATURES, WIDTH, cached=True),
    "sage lstm": lambda: pyg.SAGEConv(FEATURES, WIDTH, aggr="lstm"),
    "gat": lambda: pyg.GATConv(FEATURES, WIDTH),
    "tag": lambda: pyg.TAGConv(FEATURES, WIDTH, K=2),
    "cheb": lambda: pyg.ChebConv(FEATURES, WIDTH, K=2),
    "appnp": lambda: pyg.Sequential(
        "x, edge_index",
        [(nn.Linear(FEATURES, WIDTH), "x -> x"), (pyg.APPNP(2, 0.2), "x, edge_index -> x")],
    ),
    "sum layer": SumLayer,
    "pair layer": PairLayer,
    "by hand": ByHand,
    "dense": Dense,
    "caching": Caching,
    "graph norm": lambda: pyg.Sequential(
        "x, edge_index",
        [(pyg.GraphConv(FEATURES, WIDTH), "x, edge_index -> x"), (pyg.GraphNorm(WIDTH), "x -> x")],
    ),
    "batch norm": lambda: pyg.Sequential(
        "x, edge_index",
        [
            (pyg.GraphConv(FEATURES, WIDTH), "x, edge_index -> x"),
            (nn.BatchNorm1d(WIDTH), "x -> x"),
            (nn.Dropout(0.5), "x -> x"),
        ],
    ),
}  # fmt: skip


class Ending:
    """What becomes of the pooled features: outputs, labels, and how probabilities are read."""

    def __init__(
        self,
        outputs: int,
        end: Callable[[Tensor], Tensor],
        read: Callable[[Tensor], Tensor],
        label: Tensor | None = None,
    ) -> None:
        self.outputs, self.end, self.read, self.label = outputs, end, read, label


def _both(row: Tensor) -> Tensor:
    return torch.stack([1 - row[0], row[0]])


ENDINGS: dict[str, Ending] = {
    "logits": Ending(3, lambda out: out, lambda row: row.softmax(0)),
    "log_softmax": Ending(3, lambda out: out.log_softmax(-1), lambda row: row.exp()),
    "softmax": Ending(3, lambda out: out.softmax(-1), lambda row: row),
    "temperature": Ending(3, lambda out: (out / 0.5).softmax(-1), lambda row: row),
    "sigmoid": Ending(1, lambda out: out.sigmoid(), _both),
    "flat sigmoid": Ending(1, lambda out: out.sigmoid().squeeze(-1), _both),
    "one logit": Ending(
        1, lambda out: out, lambda row: _both(row.sigmoid()), torch.tensor([1])
    ),
    "regression": Ending(1, lambda out: 10 * out, lambda row: row, torch.tensor([2.5])),
    "multilabel": Ending(
        4, lambda out: out, lambda row: row.sigmoid(), torch.tensor([[1.0, 0.0, 1.0, 0.0]])
    ),
    "sigmoids": Ending(4, lambda out: out.sigmoid(), lambda row: row),
}  # fmt: skip


class OddModel(nn.Module):
    """A body, sum pooling, a head and an ending; `scale` is configuration that users edit.

    A mixer lets the graphs of a call disturb one another, after the read-out.
    """

    def __init__(self, body: str, ending: str, mixer: str | None = None) -> None:
        super().__init__()
        torch.manual_seed(len(body) + 17 * len(ending))
        self.body, self.ending = BODIES[body](), ENDINGS[ending]
        self.takes_batch = body == "dense"
        self.mix = MIXERS[mixer] if mixer else lambda rows: rows
        self.head = nn.Linear(WIDTH, self.ending.outputs)
        self.config: dict[str, Any] = {"scale": 1.0}
        self.double().eval()

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        given = (x, edge_index, batch) if self.takes_batch else (x, edge_index)
        h = self.body(*given).tanh() * self.config["scale"]
        return self.ending.end(self.head(self.mix(pyg.global_add_pool(h, batch))))
