"""SAME: node sets of several connected pieces, grown by tree search and then united."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from math import ceil
from types import MappingProxyType
from typing import Any, ClassVar

from torch import Tensor
from torch_geometric.data import Data

from eigsearch.explainers.base import Card, Method, ScoreType
from eigsearch.explainers.common.node_masks import NodeMaskEvaluator, evaluate_node_masks
from eigsearch.explainers.games.coalitions import NodeSet
from eigsearch.explainers.games.tree_search import SearchTree, share_of_answers

_MOST = 0.8  # of the nodes, beyond which no set grows


class SAME(Method):
    """Scores nodes by the best-rewarded sets, of one or several pieces, that a search finds.

    A first tree search grows connected sets: from one of the `expand_atoms` nodes of the highest
    degree, by one neighbour a step, to the share 1 − `sparsity` of all nodes. Rewards and choices
    are those of SubgraphX, with the edges of absent nodes removed. Of the sets with at most
    `piece_size` nodes the `pieces` best are then united in every combination that is not too large,
    and the unions rewarded too. So an answer may have several pieces. The explained node of a node
    task is in every set.

    A node's score is the share of all size limits whose best-rewarded set holds it.
    """

    card: ClassVar[Card] = Card(
        name="SAME",
        level="node",
        citation="Ye et al., SAME: Structure-Aware Shapley-based Multipiece Explanation, 2023",
        score_type=ScoreType.PROBABILITY,
        faithful_to="the authors' code",
        cost="about `rollouts` · size · `expand_atoms` · 2 · `samples` predictions",
        deviations=(
            "explains the predicted class, not the label",
            "a step adds one of `expand_atoms` neighbours, by degree, not any: our choice",
            "all unions are rewarded, where a second tree search is an alternative",
            "a node scores by the share of size limits whose answer holds it",
        ),
        seeded=True,
        color="sky",
        dash="longdashdot",
    )
    cheap_options = MappingProxyType({"rollouts": 2, "samples": 2, "pieces": 3})

    def __init__(
        self,
        rollouts: int = 20,
        c_puct: float = 10.0,
        expand_atoms: int = 14,
        local_radius: int = 4,
        samples: int = 100,
        sparsity: float = 0.5,
        piece_size: int = 3,
        pieces: int = 7,
        seed: int = 0,
    ) -> None:
        self.rollouts = rollouts
        self.c_puct = c_puct
        self.expand_atoms = expand_atoms
        self.local_radius = local_radius
        self.samples = samples
        self.sparsity = sparsity
        self.piece_size = piece_size
        self.pieces = pieces
        self.seed = seed

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return for each node the share of size limits whose best-rewarded set holds it."""
        with evaluate_node_masks(model, data, target, node) as evaluator:
            tree = GrowingTree(self, evaluator)
            for _ in range(self.rollouts):
                tree.rollout()
            tree.add(tree.unions())
        return evaluator.scatter_node_scores(share_of_answers(tree.found, evaluator.count))


class GrowingTree(SearchTree):
    """The search tree of SAME, from no node to many.

    Attributes:
        limit: The largest size of a set.
    """

    def __init__(self, options: SAME, evaluator: NodeMaskEvaluator) -> None:
        explained = evaluator.instance.node
        super().__init__(options, evaluator, frozenset(() if explained is None else (explained,)))
        self.options = options
        wanted = ceil(evaluator.count * (1 - options.sparsity))
        self.limit = max(min(wanted, int(_MOST * evaluator.count)), len(self.root.nodes) + 1)

    def unions(self) -> Iterator[NodeSet]:
        """Yield every union of two or more of the best small sets that is not too large."""
        extra = len(self.root.nodes)  # the explained node is in every piece
        small = [s for s in self.found if len(s.nodes) <= self.options.piece_size + extra]
        best = sorted(small, key=lambda state: -state.reward)[: self.options.pieces]
        for count in range(2, len(best) + 1):
            for chosen in combinations(best, count):
                union = frozenset().union(*(state.nodes for state in chosen))
                if len(union) <= self.limit:
                    yield union

    def _next_sets(self, nodes: NodeSet) -> Iterable[NodeSet]:
        if len(nodes) >= self.limit:
            return
        near = {other for node in nodes for other in self.graph[node]}
        reachable = (set(self.graph) if nodes == self.root.nodes else near) - nodes
        by_degree = sorted(reachable, key=lambda v: (-self.graph.degree[v], v))
        for added in by_degree[: self.options.expand_atoms]:
            yield nodes | {added}
