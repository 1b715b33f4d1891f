"""Explanations of models in odd shapes, compared with those of the slow twin."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import (
    GCNConv,
)

import eigsearch
from tests.nets import FEATURES, WIDTH, house, make_net
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
