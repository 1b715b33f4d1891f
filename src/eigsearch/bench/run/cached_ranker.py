"""Cache the rankings of an explainer, so that several searches share and time one ranking."""

from __future__ import annotations

import time
from typing import Any, Literal

from torch import Tensor
from torch_geometric.data import Data

from eigsearch._utils.fingerprint import digest_of
from eigsearch.candidates import EvalCoroutine
from eigsearch.explainers import Method
from eigsearch.inference.prediction import PredictedInstance
from eigsearch.ranking.rankers import CandidateRanker
from eigsearch.ranking.ranking import Ranking


class CachedRanker:
    """Computes the ranking of each prediction once.

    Attributes:
        method: The method.
        seconds: The time that the last returned ranking took when it was computed.
        total_seconds: The time that all rankings took.
    """

    def __init__(self, method: Method) -> None:
        self.method = method
        self.seconds = self.total_seconds = 0.0
        self._cache: dict[str, tuple[Tensor, float]] = {}

    @property
    def name(self) -> str:
        """The method's name."""
        return self.method.name

    @property
    def level(self) -> Literal["edge", "node"]:
        """Whether the scores are for edges or for nodes."""
        return self.method.level

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return the method's scores."""
        key = _key(data, target, node)
        if key not in self._cache:
            start = time.perf_counter()
            scores = self.method.rank(model, data, target, node)
            seconds = time.perf_counter() - start
            self._cache[key] = scores, seconds
            self.total_seconds += seconds
        scores, self.seconds = self._cache[key]
        return scores

    def clear(self) -> None:
        """Drop all cached rankings, as after a warm-up."""
        self._cache.clear()


class CachedProposer:
    """Caches the rankings of a CandidateRanker; does not measure times."""

    def __init__(self, method: CandidateRanker) -> None:
        self.method = method
        self._cache: dict[str, Ranking] = {}

    def propose(self, instance: PredictedInstance) -> EvalCoroutine[Ranking]:
        """Propose the candidates of the method, or none if the ranking is cached."""
        key = _key(instance.data, instance.target.index, instance.node)
        if key not in self._cache:
            self._cache[key] = yield from self.method.propose(instance)
        return self._cache[key]


def _key(data: Data, target: int, node: int | None) -> str:
    inputs = {"x": data.x, "edges": data.edge_index, "target": target, "node": node}
    return digest_of([inputs])
