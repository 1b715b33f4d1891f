"""SGC: the linear graph network Ŷ = Ã^K X Θ + b that imitates a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, one_hot
from torch.nn.utils import skip_init
from torch_geometric.data import Data
from torch_geometric.nn.conv.gcn_conv import gcn_norm
from torch_geometric.utils import degree, remove_self_loops

from eigsearch.errors import InputError
from eigsearch.explainers.surrogate.node_predictions import numeric_features
from eigsearch.inference.receptive_field import count_hops

_NAME = "DnX"


class SGC(nn.Module):
    """A linear surrogate whose reach is that of the model it imitates.

    Features are the nodes' own. If these are all equal, as on most synthetic sets, a linear model
    could imitate nothing: the one-hot degree takes their place (`degree_features` appends it).

    Attributes:
        hops: K, how many hops the surrogate sees.
        linear: Θ and b.
    """

    def __init__(
        self,
        model: Any,
        graphs: Sequence[Data],
        classes: int,
        hops: int | None,
        degree_features: bool,
    ) -> None:
        super().__init__()
        self.hops = _hops(model) if hops is None else hops
        x = [None if data.get("x") is None else numeric_features(data, _NAME) for data in graphs]
        told = [features for features in x if features is not None]
        self.reads_features = len(told) == len(x) and len(torch.cat(told).unique(dim=0)) > 1
        reads_degrees = degree_features or not self.reads_features
        self.degrees = max(int(_degrees(data).max()) for data in graphs) if reads_degrees else None
        self.linear = skip_init(nn.Linear, self.features(graphs[0]).size(1), classes)
        nn.init.zeros_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)

    def features(self, data: Data) -> Tensor:
        """Return what the surrogate reads of each node; larger degrees count as the largest."""
        parts = [numeric_features(data, _NAME).float()] if self.reads_features else []
        if self.degrees is not None:
            number = _degrees(data).clamp_max(self.degrees)
            parts.append(one_hot(number, self.degrees + 1).float())
        features = torch.cat(parts, dim=1)
        linear = getattr(self, "linear", None)
        if linear is not None and linear.in_features != features.size(1):
            raise InputError(
                f"Expected graphs with the {linear.in_features} features that the surrogate was "
                f"trained on (got {features.size(1)}). Call fit with graphs of this kind."
            )
        return features

    def propagated(self, data: Data) -> Tensor:
        """Return Ã^K X."""
        x, (source, target, weight) = self.features(data), _normalised(data)
        for _ in range(self.hops):
            x = torch.zeros_like(x).index_add(0, target, weight[:, None] * x[source])
        return x

    def linear_part(self, data: Data) -> Tensor:
        """Return x_v Θ for each node `[N, C]`."""
        return self.features(data) @ self.linear.weight.t()


def distil(
    surrogate: SGC, inputs: Tensor, targets: Tensor, epochs: int, lr: float, weight_decay: float
) -> float:
    """Train on soft predictions by cross-entropy; keep and return the best agreement of classes."""
    linear = surrogate.linear
    optimizer = torch.optim.Adam(linear.parameters(), lr=lr, weight_decay=weight_decay)
    best, weights = -1.0, {}
    for _ in range(epochs + 1):
        logits = linear(inputs)
        same = logits.argmax(dim=1) == targets.argmax(dim=1)
        if (agreement := float(same.float().mean())) >= best:
            best = agreement
            weights = {key: value.clone() for key, value in linear.state_dict().items()}
        optimizer.zero_grad()
        cross_entropy(logits, targets.to(logits.dtype)).backward()
        optimizer.step()
    linear.load_state_dict(weights)
    surrogate.requires_grad_(False)
    return best


def propagation_row(data: Data, node: int, hops: int) -> Tensor:
    """Return row u of Ã^K: how much of each node's features reaches the node `[N]`."""
    source, target, weight = _normalised(data)
    row = torch.zeros(int(data.num_nodes))
    row[node] = 1.0
    for _ in range(hops):
        row = torch.zeros_like(row).index_add(0, source, weight * row[target])
    return row


def _normalised(data: Data) -> tuple[Tensor, Tensor, Tensor]:
    """Return sources, targets and weights of Ã, the GCN normalisation with self-loops."""
    edge_index, weight = gcn_norm(data.edge_index.cpu(), num_nodes=int(data.num_nodes))
    return edge_index[0], edge_index[1], weight


def _degrees(data: Data) -> Tensor:
    edge_index, _ = remove_self_loops(data.edge_index.cpu())
    return degree(edge_index[1], int(data.num_nodes), dtype=torch.long)


def _hops(model: Any) -> int:
    hops = count_hops(model)
    if hops is None:
        raise InputError(
            "Expected layers that tell how many hops the model sees (got none that do). Pass "
            "`hops=` to DnX."
        )
    return hops
