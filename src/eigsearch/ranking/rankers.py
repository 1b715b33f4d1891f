"""Ranker protocols: what scores the edges or nodes of a graph."""

from __future__ import annotations

from typing import Any, Literal, Protocol, runtime_checkable

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch._utils.tolerances import score_rounding
from eigsearch.candidates import EvalCoroutine
from eigsearch.errors import InputError, UnsupportedError
from eigsearch.inference.prediction import PredictedInstance
from eigsearch.ranking.node_ranking import rank_nodes
from eigsearch.ranking.ranking import Ranking, group_scores, rank


class Ranker(Protocol):
    """Scores the edges, or the nodes, of one graph for one prediction."""

    @property
    def name(self) -> str:
        """The name of the method."""
        ...

    @property
    def level(self) -> Literal["edge", "node"]:
        """Whether the scores are for edges or for nodes."""
        ...

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return a score for each directed edge (or each node); higher is more important."""
        ...


@runtime_checkable
class CandidateRanker(Protocol):
    """A ranker whose scores come from candidates that an engine evaluates."""

    def propose(self, instance: PredictedInstance) -> EvalCoroutine[Ranking]:
        """Propose candidates until the ranking of the instance's groups is known."""
        ...


def rank_with(
    ranker: Ranker | CandidateRanker, instance: PredictedInstance, model: Any
) -> EvalCoroutine[Ranking]:
    """Rank the groups of an instance with any ranker.

    Args:
        ranker: What ranks.
        instance: The prediction to explain.
        model: The model as a ranker is given it.

    Raises:
        InputError: If the ranker does not return a finite score for each edge (or node).
    """
    if isinstance(ranker, CandidateRanker):
        return (yield from ranker.propose(instance))
    if instance.schema is not None or len(instance.anchors) > 1:
        raise UnsupportedError(
            f"Expected a ranker that explains links and typed graphs (got {ranker.name}, which "
            "explains graphs and nodes without types). Leave `ranker` out, or pass occlusion."
        )
    scores = ranker.rank(model, instance.data, instance.target.index, instance.node)
    _check_scores(scores, ranker.level, instance.data)
    if ranker.level == "node":
        return rank_nodes(scores, instance)
    scores = group_scores(scores, instance.groups)
    return rank(scores, score_rounding(scores))


def _check_scores(scores: Tensor, level: str, data: Data) -> None:
    expected = data.num_edges if level == "edge" else data.num_nodes
    if scores.shape != (expected,) or not bool(torch.isfinite(scores).all()):
        raise InputError(
            f"Expected the ranker to return one finite score for each of {expected} {level}s (got "
            f"{int(torch.isfinite(scores).sum())} finite ones in shape {list(scores.shape)}). "
            "Check its `rank` and its `level`."
        )
