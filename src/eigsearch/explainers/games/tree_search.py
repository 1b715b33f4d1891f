"""Monte-Carlo tree search over node sets, rewarded by their Shapley value."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from eigsearch.explainers.common.node_masks import NodeMaskEvaluator
from eigsearch.explainers.games.coalitions import (
    NodeSet,
    local_region,
    shapley_rows,
    undirected_graph,
)


@dataclass(eq=False)
class State:
    """A node set of the search tree, with its reward and what its visits brought."""

    nodes: NodeSet
    reward: float = 0.0
    children: Sequence[State] | None = None
    visits: int = 0
    total: float = 0.0

    @property
    def mean(self) -> float:
        """Q, the mean reward of the rollouts that came through."""
        return self.total / self.visits if self.visits else 0.0


class TreeOptions(Protocol):
    """The options of a tree search.

    Attributes:
        c_puct: The weight of exploration.
        local_radius: One more than how many hops from a set players are, as the authors count;
            nodes beyond are in every coalition.
        samples: Coalitions per reward.
        seed: The seed of the coalitions.
    """

    c_puct: float
    local_radius: int
    samples: int
    seed: int


class SearchTree(ABC):
    """A search tree; each node set exists once, and is rewarded once."""

    def __init__(self, options: TreeOptions, evaluator: NodeMaskEvaluator, root: NodeSet) -> None:
        self._options = options
        self.evaluator = evaluator
        self.graph = undirected_graph(evaluator.data)
        self.root = State(root)
        self._states = {root: self.root}
        self._generator = torch.Generator().manual_seed(options.seed)

    @abstractmethod
    def _next_sets(self, nodes: NodeSet) -> Iterable[NodeSet]:
        """Yield the sets one step from a set; none where a rollout ends."""

    def _values(self, rows: Tensor) -> Tensor:
        """Return the value of each coalition, with the edges of absent nodes removed."""
        return self.evaluator.split_values(rows)

    @property
    def found(self) -> list[State]:
        """Every node set that the search has rewarded."""
        return [state for state in self._states.values() if state is not self.root]

    def rollout(self) -> None:
        """Walk down to a leaf, and credit its reward to every set on the way."""
        path = [self.root]
        while True:
            if path[-1].children is None:
                path[-1].children = self.add(self._next_sets(path[-1].nodes))
            if not path[-1].children:
                break
            path.append(self._select(path[-1].children))
        for step in path[1:]:
            step.visits += 1
            step.total += path[-1].reward

    def add(self, sets: Iterable[NodeSet]) -> list[State]:
        """Return the states of some sets, those that are new rewarded together."""
        distinct = list(dict.fromkeys(sets))
        new = [nodes for nodes in distinct if nodes not in self._states]
        for nodes, reward in zip(new, self.rewards(new), strict=True):
            self._states[nodes] = State(nodes, reward)
        return [self._states[nodes] for nodes in distinct]

    def rewards(self, sets: Sequence[NodeSet]) -> list[float]:
        """Return the estimated Shapley value of each set, all samples in shared model calls."""
        if not sets:
            return []
        rows = torch.stack([self._sample(nodes) for nodes in sets])
        values = self._values(rows.flatten(0, -2))
        present, absent = values.view(len(sets), 2, -1).unbind(dim=1)
        return (present - absent).mean(dim=1).tolist()

    def _select(self, children: Sequence[State]) -> State:
        explored = self._options.c_puct * math.sqrt(sum(child.visits for child in children))
        return max(children, key=lambda c: c.mean + explored * c.reward / (1 + c.visits))

    def _sample(self, nodes: NodeSet) -> Tensor:
        region = local_region(self.graph, nodes, self._options.local_radius - 1)
        return shapley_rows(
            nodes,
            region,
            self.evaluator.count,
            self._options.samples,
            self._generator,
            always=self.evaluator.instance.node,
        )


def share_of_answers(states: Sequence[State], count: int) -> Tensor:
    """Return for each node the share of size limits at which the best-rewarded set holds it."""
    votes = torch.zeros(count)
    limits = range(min((len(state.nodes) for state in states), default=count), count)
    for limit in limits:
        within = [state for state in states if len(state.nodes) <= limit]
        best = max(within, key=lambda state: (state.reward, -len(state.nodes)))
        votes[list(best.nodes)] += 1
    return votes / max(len(limits), 1)
