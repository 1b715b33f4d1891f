"""GECo: the communities of a graph, each by what the model says about it alone."""

from __future__ import annotations

from typing import Any, ClassVar

import networkx as nx
import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.candidates import SubgraphKind
from eigsearch.errors import UnsupportedError
from eigsearch.explainers.base import Card, Method, ScoreType
from eigsearch.explainers.common.class_probabilities import require_classifier
from eigsearch.explainers.common.node_masks import evaluate_node_masks
from eigsearch.explainers.games.coalitions import undirected_graph


class GECo(Method):
    """Scores a node by the probability of the class on its community alone.

    Communities are those of greedy modularity maximisation. The published answer is every community
    whose probability is above the mean over communities; here a search over the ranking takes
    the place of that threshold. Nodes of a community tie: they are in an answer together.
    """

    card: ClassVar[Card] = Card(
        name="GECo",
        level="node",
        citation="Calderaro et al., The GECo algorithm for GNN explanation, arXiv 2411.11391, 2024",
        score_type=ScoreType.PROBABILITY,
        faithful_to="the paper",
        cost="one prediction per community, and the detection of communities",
        deviations=("a search takes the place of the threshold at the mean probability",),
        tasks=("graph",),
        color="green",
        dash="dashdotdot",
    )

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return for each node what its community is worth."""
        if node is not None:
            raise UnsupportedError(
                f"Expected a graph-level prediction, whose communities GECo compares (got node "
                f"{node}). Choose a method that has node tasks."
            )
        with evaluate_node_masks(model, data, target, node) as evaluator:
            require_classifier(evaluator.instance.target, self.name)
            rows = torch.zeros(0, evaluator.count, dtype=torch.bool)
            for members in communities(undirected_graph(evaluator.data)):
                row = torch.zeros(1, evaluator.count, dtype=torch.bool)
                row[0, sorted(members)] = True
                rows = torch.cat([rows, row])
            value = evaluator.values(rows, SubgraphKind.NODE_INDUCED)
        return evaluator.scatter_node_scores(value[rows.int().argmax(dim=0)])


def communities(graph: nx.Graph) -> list[frozenset[int]]:
    """Return the communities of greatest modularity; every node is in one of them."""
    if graph.number_of_edges() == 0:  # modularity is not defined
        return [frozenset({node}) for node in graph]
    return list(nx.community.greedy_modularity_communities(graph))
