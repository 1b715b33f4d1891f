"""Ranker protocols: what scores the edges or nodes of a graph."""

from __future__ import annotations

from typing import Any, Literal, Protocol, runtime_checkable

from torch import Tensor
from torch_geometric.data import Data

from eigsearch.candidates import EvalCoroutine
from eigsearch.inputs.instance import PreparedInstance
from eigsearch.ranking.ranking import Ranking


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

    def propose(self, instance: PreparedInstance, phi_full: Tensor) -> EvalCoroutine[Ranking]:
        """Propose candidates until the ranking of the instance's groups is known."""
        ...
