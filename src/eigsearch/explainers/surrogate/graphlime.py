"""GraphLIME: which features the predictions around a node depend on, by HSIC Lasso."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import torch
from sklearn.linear_model import lars_path_gram
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.utils import k_hop_subgraph

from eigsearch.errors import UnsupportedError
from eigsearch.explainers.base import Card, Method, ScoreType
from eigsearch.explainers.surrogate.node_predictions import (
    node_probabilities,
    numeric_features,
    require_node,
)

_WIDTH = 0.1  # of the kernels, per dimension
_FLAT = 1e-10  # a kernel whose centred norm is below this is constant but for rounding


class GraphLIME(Method):
    """Scores features by a non-negative HSIC Lasso, and nodes by how much of these they have.

    Kernels compare the nodes at most `hops` away, feature by feature and by their predicted class
    probabilities. Importances β ≥ 0 minimise ½‖L̄ − Σ_k β_k K̄_k‖² + `rho`·‖β‖₁ over the centred
    and normalised kernels. The method explains features: `feature_scores` returns β. There is no
    published rule for nodes; `rank` returns Σ_k β_k |x_vk|, zero for nodes farther away.

    Of larger neighbourhoods the `max_nodes` nearest nodes are compared, in the order of the graph.
    """

    card: ClassVar[Card] = Card(
        name="GraphLIME",
        level="node",
        citation="Huang et al., GraphLIME, TKDE 2022",
        score_type=ScoreType.MAGNITUDE,
        faithful_to="the paper; kernel widths of the pip package graphlime",
        cost="one prediction of all nodes, and a Lasso on features",
        deviations=(
            "explains features; nodes score by Σ β|x|, our reading",
            "at most `max_nodes` neighbours",
        ),
        tasks=("node",),
        needs=("node features that differ",),
        color="purple",
        dash="dashdotdot",
    )

    def __init__(self, hops: int = 2, rho: float = 0.1, max_nodes: int = 128) -> None:
        self.hops = hops
        self.rho = rho
        self.max_nodes = max_nodes

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return Σ_k β_k |x_vk| for each node around the explained one, zero elsewhere."""
        explained = require_node(node, self.name)
        importance = torch.from_numpy(self.feature_scores(model, data, explained))
        near = self._neighbours(data, explained)
        score = torch.zeros(int(data.num_nodes), dtype=torch.float64)
        score[near] = numeric_features(data, self.name)[near].double().abs() @ importance
        return score.float()

    def feature_scores(self, model: Any, data: Data, node: int) -> np.ndarray:
        """Return the importance β of each feature for the prediction of a node `[F]`.

        Raises:
            UnsupportedError: If all nodes have the same features, or the model is no classifier.
        """
        x = numeric_features(data, self.name)
        if len(x) > 1 and bool((x == x[:1]).all()):
            raise UnsupportedError(
                "Expected node features that differ between nodes, which GraphLIME explains (got "
                "the same for all). Choose a method that explains structure."
            )
        near = self._neighbours(data, node)
        y = node_probabilities(model, data, self.name)[near].numpy()
        return hsic_lasso(x[near].double().numpy(), y, self.rho)

    def _neighbours(self, data: Data, node: int) -> Tensor:
        """Return the nodes at most `hops` away, in either direction, nearest first."""
        edges = torch.cat([data.edge_index, data.edge_index.flip(0)], dim=1).cpu()
        count, found = int(data.num_nodes), torch.tensor([node])
        for hop in range(1, self.hops + 1):
            nodes, *_ = k_hop_subgraph(node, hop, edges, num_nodes=count)
            found = torch.cat([found, nodes[~torch.isin(nodes, found)]])
        return found[: self.max_nodes]


def hsic_lasso(x: np.ndarray, y: np.ndarray, rho: float) -> np.ndarray:
    """Return argmin_{β ≥ 0} ½‖L̄ − Σ_k β_k K̄_k‖² + ρ‖β‖₁ for features `[n, d]`, outputs `[n, C]`.

    Memory is n² · d: the caller bounds n.
    """
    importance = np.zeros(x.shape[1])
    output = _normalised_kernel(y, y.shape[1])
    kernels = [_normalised_kernel(x[:, [k]], x.shape[1]) for k in range(x.shape[1])]
    varying = [k for k, kernel in enumerate(kernels) if kernel.any()]
    if not varying or not output.any():
        return importance
    design = np.stack([kernels[k].ravel() for k in varying])
    _, _, path = lars_path_gram(
        design @ output.ravel(),
        design @ design.T,
        n_samples=1,
        alpha_min=rho,
        method="lasso",
        positive=True,
    )
    importance[varying] = path[:, -1]
    return importance


def _normalised_kernel(values: np.ndarray, dimensions: int) -> np.ndarray:
    """Return a Gaussian kernel, centred and of norm one; zero if all values are equal."""
    distance = ((values[:, None] - values[None]) ** 2).sum(axis=-1)
    kernel = np.exp(-distance / (2 * _WIDTH * dimensions))
    kernel = kernel - kernel.mean(axis=0) - kernel.mean(axis=1, keepdims=True) + kernel.mean()
    norm = np.linalg.norm(kernel)
    return kernel / norm if norm > _FLAT else np.zeros_like(kernel)
