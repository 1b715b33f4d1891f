"""Check isomorphism and containment of labelled graphs within a limit of steps."""

from __future__ import annotations

from typing import Any

import networkx as nx
from networkx.algorithms.isomorphism import GraphMatcher

# A step takes about 6 µs: 0.02 s for one check, 20 s for all checks of a page. 1,000 explanations
# of BA-2Motifs take 1.6 million steps. Steps rather than seconds, so that the same explanations
# give the same page on every machine.
_MOST_STEPS = 4_000
_MOST_STEPS_IN_ALL = 3_000_000


class LimitReached(Exception):
    """Raised inside a check that takes too many steps."""


class Matcher:
    """Exact graph matching that gives up after a number of steps.

    Attributes:
        steps_left: Steps that all further checks may take together.
        limited: Whether a check was given up.
    """

    def __init__(self, most_steps: int = _MOST_STEPS, in_all: int = _MOST_STEPS_IN_ALL) -> None:
        self.most_steps = most_steps
        self.steps_left = in_all
        self.limited = False

    def isomorphic(self, left: nx.Graph, right: nx.Graph) -> bool:
        """Return whether two graphs with equal Weisfeiler-Lehman hashes are isomorphic.

        True if the check was given up: unequal graphs with equal hashes are rare.
        """
        return self._check(left, right, GraphMatcher.is_isomorphic, otherwise=True)

    def contains(self, graph: nx.Graph, part: nx.Graph) -> bool:
        """Return whether a graph has a subgraph like `part`; False if the check was given up."""
        return self._check(graph, part, GraphMatcher.subgraph_is_monomorphic, otherwise=False)

    def _check(self, left: nx.Graph, right: nx.Graph, method: Any, otherwise: bool) -> bool:
        search = _CountingMatcher(left, right, min(self.most_steps, self.steps_left))
        try:
            return method(search)
        except LimitReached:
            self.limited = True
            return otherwise
        finally:
            self.steps_left = max(self.steps_left - search.steps, 0)


class _CountingMatcher(GraphMatcher):
    """A matcher of node labels that counts the pairs of nodes it tries."""

    def __init__(self, left: nx.Graph, right: nx.Graph, limit: int) -> None:
        self.steps, self.limit = 0, limit
        super().__init__(left, right, node_match=_same_label)

    def syntactic_feasibility(self, left_node: Any, right_node: Any) -> bool:
        """Count a pair of nodes, and return whether their edges allow to match them."""
        self.steps += 1
        if self.steps > self.limit:
            raise LimitReached
        return super().syntactic_feasibility(left_node, right_node)


def _same_label(left: dict[str, str], right: dict[str, str]) -> bool:
    return left["label"] == right["label"]
