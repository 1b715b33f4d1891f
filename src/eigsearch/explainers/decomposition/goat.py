"""GOAt: each product of adjacency entries and gates in the output, shared equally."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.explainers.base import Card, Method, ScoreType, share_directions
from eigsearch.explainers.common.differentiable import DifferentiablePrediction, gradients
from eigsearch.explainers.common.edge_weights import to_graph_edges
from eigsearch.explainers.decomposition.relevance.linearized import LinearizedPrediction, Variables


class GOAt(Method):
    """Scores an edge by its equal share in the products that make up the class score.

    With all ReLU gates held, the output is a sum of products of adjacency entries, gates and
    constants. Each product of m variables gives 1/m of its value to each of them. What a gate of a
    node gets after l layers is spread evenly over the edges of its l-hop computation graph, and so
    is what a self-loop gets that a layer adds; what a gate of the pooled graph gets, over all
    edges. The same terms of the graph without edges are subtracted, so that the scores add up to
    f(G) − f(no edges), but for nodes without an edge nearby, whose share nobody gets.

    The share 1/m is ∫ t^(m−1) dt: with all variables scaled by t, a Gauss–Legendre sum over
    gradients is exact for all products at once, whatever their source and number of variables.
    """

    card: ClassVar[Card] = Card(
        name="GOAt",
        level="edge",
        citation="Lu et al., GOAt: Explaining GNNs via Graph Output Attribution, ICLR 2024",
        score_type=ScoreType.SIGNED,
        faithful_to="the paper, checked by its completeness",
        cost="a forward and a backward pass for every two factors of a path (messages and gates: "
        "L + 1 of them with GCN), and one forward pass more, twice",
        deviations=(
            "self-loops that a layer adds are spread over the edges nearby",
            "nodes are ranked for one class, not by the norm over classes",
            "the graph without edges has its own gates in all layers",
        ),
        needs=("node features", "PyG layers", "linear maps, ReLUs, sums and means"),
        color="purple",
        dash="longdash",
    )

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return the share of each edge."""
        with gradients():
            share, _ = edge_shares(model, data, target, node)
        return share_directions(share, data)


def edge_shares(model: Any, data: Data, target: int, node: int | None) -> tuple[Tensor, Tensor]:
    """Return the share of each edge, and the remainder that no edge gets.

    Both add up to f(G) − f(no edges).
    """
    nothing = torch.zeros(data.num_edges, dtype=torch.bool, device=data.edge_index.device)
    with_edges = _Shares(DifferentiablePrediction(model, data, target, node))
    empty = data.edge_subgraph(nothing)
    without = _Shares(DifferentiablePrediction(model, empty, target, node))
    return _spread(with_edges, without, data)


class _Shares:
    """Shares of messages, by edge, and of nodes and the pooled graph, by layers before them.

    Attributes:
        edges: The share of each edge of the graph.
        nodes: For each number of layers, the share of gates and added self-loops of each node.
        pooled: The share of gates that belong to no single node.
    """

    def __init__(self, prediction: DifferentiablePrediction) -> None:
        self._count = int(prediction.data.num_nodes)
        self._edge_index = prediction.data.edge_index
        linearized = LinearizedPrediction(prediction)
        like = linearized.value.detach()
        self.edges = like.new_zeros(self._edge_index.size(1))
        self.nodes: dict[int, Tensor] = {}
        self.pooled = like.new_zeros(())
        if linearized.num_variables == 0:
            return
        points, weights = np.polynomial.legendre.leggauss(linearized.num_variables // 2 + 1)
        for point, weight in zip((points + 1) / 2, weights / 2, strict=True):
            variables = Variables(prediction.features(), scale=float(point))
            self._add(linearized.run(variables), variables, float(weight))

    def _add(self, score: Tensor, variables: Variables, weight: float) -> None:
        """Add the gradients at one point of the path."""
        messages = [leaf for leaf, _ in variables.messages]
        gates = [leaf for leaf, _ in variables.gates]
        if not score.requires_grad:
            return
        found = torch.autograd.grad(score, [*messages, *gates], materialize_grads=True)
        edges = [edge_index for _, edge_index in variables.messages]
        for layer, (share, edge_index) in enumerate(zip(found, edges, strict=False), start=1):
            self._add_messages(weight * share, edge_index, layer)
        for share, (gate, layers) in zip(found[len(messages) :], variables.gates, strict=True):
            # The gate itself is the leaf without its scale.
            self._add_gates(weight * (share * gate.detach() / variables.scale), layers)

    def _add_messages(self, share: Tensor, edge_index: Tensor, layer: int) -> None:
        """Give the share of messages to edges; that of added self-loops goes to their node."""
        self.edges += to_graph_edges(share, edge_index, self._edge_index)
        if not torch.equal(edge_index, self._edge_index):
            loop = edge_index[0] == edge_index[1]
            total = torch.zeros(self._count, dtype=share.dtype, device=share.device)
            self._add_nodes(total.index_add(0, edge_index[1, loop], share[loop]), layer)

    def _add_gates(self, share: Tensor, layers: int) -> None:
        if share.size(0) == self._count and share.dim() > 1:
            self._add_nodes(share.flatten(1).sum(dim=1), layers)
        else:
            self.pooled += share.sum()

    def _add_nodes(self, share: Tensor, layers: int) -> None:
        known = self.nodes.get(layers)
        self.nodes[layers] = share if known is None else known + share


def _spread(with_edges: _Shares, without: _Shares, data: Data) -> tuple[Tensor, Tensor]:
    """Return edge scores, with the shares of nodes and of the pooled graph spread over edges."""
    score, remainder = with_edges.edges.clone(), torch.zeros_like(with_edges.pooled)
    pooled = with_edges.pooled - without.pooled
    if data.num_edges:
        score += pooled / data.num_edges
    else:
        remainder = remainder + pooled
    for layers, share in with_edges.nodes.items():
        difference = share - without.nodes.get(layers, torch.zeros_like(share))
        spread, lost = _over_nearby_edges(difference, layers, data)
        score, remainder = score + spread, remainder + lost
    for layers in without.nodes.keys() - with_edges.nodes.keys():
        remainder = remainder - without.nodes[layers].sum()
    return score, remainder


def _over_nearby_edges(share: Tensor, layers: int, data: Data) -> tuple[Tensor, Tensor]:
    """Spread the share of each node evenly over the edges of its computation graph.

    Those are the edges that end within `layers` − 1 hops of it.
    """
    source, target = data.edge_index.cpu().numpy()
    nodes = int(data.num_nodes)
    near = sp.identity(nodes, dtype=np.int64, format="csr") * (1 if layers else 0)
    step = sp.csr_matrix((np.ones(len(source), np.int64), (target, source)), (nodes, nodes))
    for _ in range(layers - 1):
        near = ((near + near @ step) > 0).astype(np.int64)
    count = near @ np.bincount(target, minlength=nodes)
    values = share.cpu().double().numpy()
    each = np.divide(values, count, out=np.zeros(nodes), where=count > 0)
    spread = torch.from_numpy((near.T @ each)[target]).to(share)
    return spread, torch.tensor(values[count == 0].sum()).to(share)
