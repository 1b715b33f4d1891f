"""Ranker protocols: what scores the edges or nodes of a graph."""

from __future__ import annotations

from typing import Any, Literal, Protocol, runtime_checkable

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch._utils.tolerances import score_rounding
from eigsearch.candidates import EvalCoroutine
from eigsearch.errors import InputError, UnsupportedError
from eigsearch.inference.model_call import ModelCall
from eigsearch.inference.prediction import PredictedInstance
from eigsearch.ranking.graph_prediction import GraphPrediction, as_graph
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

    @property
    def explains(self) -> tuple[str, ...]:
        """The kinds of predictions that it explains: `graph`, `node`, `link`, and `typed` ones.

        A ranker that does not say so explains graphs and nodes without types.
        """
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
    ranker: Ranker | CandidateRanker, instance: PredictedInstance, model: Any, call: ModelCall
) -> EvalCoroutine[Ranking]:
    """Rank the groups of an instance with any ranker.

    Links and typed graphs reach rankers of graphs as the prediction of a graph.

    Args:
        ranker: What ranks.
        instance: The prediction to explain.
        model: The model as a ranker is given it.
        call: How the model is called.

    Raises:
        InputError: If the ranker does not return a finite score for each edge (or node).
        UnsupportedError: If it does not explain predictions of this kind.
    """
    if isinstance(ranker, CandidateRanker):
        return (yield from ranker.propose(instance))
    data, node = instance.data, instance.node
    if instance.schema is not None or len(instance.anchors) > 1:
        _check_explains(ranker, instance)
        model, data, node = GraphPrediction(call, instance), as_graph(instance), None
    scores = ranker.rank(model, data, instance.target.index, node)
    _check_scores(scores, ranker.level, instance.data)
    if ranker.level == "node":
        return rank_nodes(scores, instance)
    scores = group_scores(scores, instance.groups)
    return rank(scores, score_rounding(scores))


def _check_explains(ranker: Ranker, instance: PredictedInstance) -> None:
    """Raise UnsupportedError if a ranker does not say that it explains such a prediction."""
    explains = getattr(ranker, "explains", ())
    kinds = {"link": len(instance.anchors) > 1, "typed": instance.schema is not None}
    for kind, words in (("typed", "typed graphs"), ("link", "links")):
        if kinds[kind] and kind not in explains:
            raise UnsupportedError(
                f"Expected a ranker that explains {words} (got {ranker.name}, which does not). "
                "Leave `ranker` out, or pass occlusion, gnnshap, ig or random."
            )


def _check_scores(scores: Tensor, level: str, data: Data) -> None:
    expected = data.num_edges if level == "edge" else data.num_nodes
    if scores.shape != (expected,) or not bool(torch.isfinite(scores).all()):
        raise InputError(
            f"Expected the ranker to return one finite score for each of {expected} {level}s (got "
            f"{int(torch.isfinite(scores).sum())} finite ones in shape {list(scores.shape)}). "
            "Check its `rank` and its `level`."
        )
