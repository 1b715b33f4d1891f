"""Scores that are known already: a ranker that returns a tensor of the user."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from eigsearch._utils.tolerances import score_rounding
from eigsearch.candidates import EvalCoroutine
from eigsearch.errors import InputError
from eigsearch.inference.prediction import PredictedInstance
from eigsearch.ranking.node_ranking import rank_nodes
from eigsearch.ranking.ranking import Ranking, group_scores, rank


@dataclass(frozen=True, eq=False)
class FixedScores:
    """Ranks by a tensor of scores: one for each edge of the graph, or one for each node.

    Where a graph has as many nodes as edges, they are those of edges.
    """

    scores: Tensor

    @property
    def name(self) -> str:
        """The name of the method."""
        return f"scores [{len(self.scores)}]"

    def propose(self, instance: PredictedInstance) -> EvalCoroutine[Ranking]:
        """Rank without a candidate."""
        yield from ()
        source, scores = instance.source, self.scores.detach().flatten()
        edges, nodes = int(source.num_edges), int(source.num_nodes)
        if len(scores) not in (edges, nodes) or not bool(torch.isfinite(scores).all()):
            raise InputError(
                f"Expected `ranker` to be finite scores for the {edges} edges or {nodes} nodes of "
                f"the graph (got {len(scores)}, {int(torch.isfinite(scores).sum())} of them "
                "finite). For several graphs pass a function (model, data) -> scores."
            )
        if len(scores) == edges:
            own = scores if instance.edges is None else scores[instance.edges]
            grouped = group_scores(own, instance.groups)
            return rank(grouped, score_rounding(grouped))
        return rank_nodes(scores if instance.nodes is None else scores[instance.nodes], instance)
