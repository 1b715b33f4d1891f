"""SubgraphX: Monte-Carlo tree search over node sets, rewarded by their Shapley value."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import networkx as nx
import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.candidates import SubgraphKind
from eigsearch.explainers.base import Card, Method, ScoreType, check_choice
from eigsearch.explainers.common.node_masks import (
    NodeMaskEvaluator,
    evaluate_node_masks,
    require_features,
)
from eigsearch.explainers.games.coalitions import (
    NodeSet,
    local_region,
    shapley_rows,
    undirected_graph,
)


class SubgraphX(Method):
    """Scores nodes by the best-rewarded node sets that a tree search finds.

    The search starts from all nodes. A step drops one of `expand_atoms` nodes, chosen by
    degree, and keeps the largest component (that of the explained node, for a node task); a rollout
    ends at `min_atoms` nodes. Among children it takes the largest Q + c_puct · P · √ΣN / (1 + N),
    where the reward P is the set's Shapley value within `local_radius`, estimated from `samples`
    coalitions. `absent` says what happens to nodes outside a coalition: `"split"` removes their
    edges, as the authors' benchmark does, `"zero"` sets their features to zero. `expand` says which
    nodes are dropped first: those of the `"lowest"` degree, or of the `"highest"`, as the authors
    do on sets of Barabási–Albert graphs. The explained node is in every coalition.

    The published answer at a size limit is the best-rewarded set of at most that many nodes. Here
    a node's score is the share of all size limits whose answer holds it.
    """

    card: ClassVar[Card] = Card(
        name="SubgraphX",
        level="node",
        citation="Yuan et al., On Explainability of GNNs via Subgraph Explorations, ICML 2021",
        score_type=ScoreType.PROBABILITY,
        faithful_to="the paper and the authors' benchmark",
        cost="about `rollouts` · `expand_atoms` · 2 · `samples` predictions",
        deviations=("a node scores by the share of size limits whose answer holds it",),
        seeded=True,
        color="olive",
        dash="dashdot",
    )
    cheap_options = MappingProxyType({"rollouts": 2, "samples": 3})

    def __init__(
        self,
        rollouts: int = 20,
        min_atoms: int = 5,
        c_puct: float = 10.0,
        expand_atoms: int = 14,
        local_radius: int = 4,
        samples: int = 100,
        absent: Literal["split", "zero"] = "split",
        expand: Literal["lowest", "highest"] = "lowest",
        seed: int = 0,
    ) -> None:
        check_choice("absent", absent, ("split", "zero"))
        check_choice("expand", expand, ("lowest", "highest"))
        self.absent = absent
        self.expand = expand
        self.rollouts = rollouts
        self.min_atoms = min_atoms
        self.c_puct = c_puct
        self.expand_atoms = expand_atoms
        self.local_radius = local_radius
        self.samples = samples
        self.seed = seed

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return for each node the share of size limits whose best-rewarded set holds it."""
        if self.absent == "zero":
            require_features(data, self.name)
        with evaluate_node_masks(model, data, target, node) as evaluator:
            tree = Tree(self, evaluator)
            for _ in range(self.rollouts):
                tree.rollout()
        return evaluator.scatter_node_scores(share_of_answers(tree.found, evaluator.count))


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


class Tree:
    """The search tree; each node set exists once, and is rewarded once."""

    def __init__(self, options: SubgraphX, evaluator: NodeMaskEvaluator) -> None:
        self.options = options
        self.evaluator = evaluator
        self.graph = undirected_graph(evaluator.data)
        self.root = State(frozenset(range(evaluator.count)))
        self._states = {self.root.nodes: self.root}
        self._generator = torch.Generator().manual_seed(options.seed)

    @property
    def found(self) -> list[State]:
        """Every node set that the search has rewarded."""
        return [state for state in self._states.values() if state is not self.root]

    def rollout(self) -> None:
        """Walk down to a leaf, and credit its reward to every set on the way."""
        path = [self.root]
        while len(path[-1].nodes) > self.options.min_atoms:
            if path[-1].children is None:
                path[-1].children = self._expand(path[-1])
            if not path[-1].children:
                break
            path.append(self._select(path[-1].children))
        for step in path[1:]:
            step.visits += 1
            step.total += path[-1].reward

    def _select(self, children: Sequence[State]) -> State:
        explored = self.options.c_puct * math.sqrt(sum(child.visits for child in children))
        return max(children, key=lambda c: c.mean + explored * c.reward / (1 + c.visits))

    def _expand(self, state: State) -> list[State]:
        """Return the children of a state, those that are new rewarded together."""
        sets = list(dict.fromkeys(self._smaller_sets(state.nodes)))
        new = [nodes for nodes in sets if nodes not in self._states]
        for nodes, reward in zip(new, self.rewards(new), strict=True):
            self._states[nodes] = State(nodes, reward)
        return [self._states[nodes] for nodes in sets]

    def _smaller_sets(self, nodes: NodeSet) -> Iterable[NodeSet]:
        inside = self.graph.subgraph(nodes)
        explained = self.evaluator.instance.node
        sign = 1 if self.options.expand == "lowest" else -1
        by_degree = sorted(nodes - {explained}, key=lambda v: (sign * inside.degree[v], v))
        for dropped in by_degree[: self.options.expand_atoms]:
            parts = map(frozenset, nx.connected_components(self.graph.subgraph(nodes - {dropped})))
            yield max(parts, key=lambda part: (explained in part, len(part), -min(part)))

    def rewards(self, sets: Sequence[NodeSet]) -> list[float]:
        """Return the estimated Shapley value of each set, all samples in shared model calls."""
        if not sets:
            return []
        rows = torch.stack([self._sample(nodes) for nodes in sets])
        values = self._values(rows.flatten(0, -2))
        present, absent = values.view(len(sets), 2, -1).unbind(dim=1)
        return (present - absent).mean(dim=1).tolist()

    def _values(self, rows: Tensor) -> Tensor:
        if self.options.absent == "split":
            return self.evaluator.split_values(rows)
        return self.evaluator.values(rows, SubgraphKind.ZEROED_FEATURES)

    def _sample(self, nodes: NodeSet) -> Tensor:
        region = local_region(self.graph, nodes, self.options.local_radius - 1)
        return shapley_rows(
            nodes,
            region,
            self.evaluator.count,
            self.options.samples,
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
