"""SubgraphX: Monte-Carlo tree search over node sets, rewarded by their Shapley value."""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import networkx as nx
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.candidates import SubgraphKind
from eigsearch.explainers.base import Card, Method, ScoreType, check_choice
from eigsearch.explainers.common.node_masks import (
    NodeMaskEvaluator,
    evaluate_node_masks,
    require_features,
)
from eigsearch.explainers.games.coalitions import NodeSet
from eigsearch.explainers.games.tree_search import SearchTree, share_of_answers


class SubgraphX(Method):
    """Scores nodes by the best-rewarded node sets that a tree search finds.

    The search starts from all nodes. A step drops one of `expand_atoms` nodes, chosen by
    degree, and keeps the largest component (that of the explained node, for a node task); a rollout
    ends at `min_atoms` nodes. Among children it takes the largest Q + c_puct · P · √ΣN / (1 + N),
    where the reward P is the set's Shapley value among nodes within `local_radius` − 1 hops,
    estimated from `samples` coalitions. `absent` says what happens to nodes outside a coalition:
    `"split"` removes their edges, as the authors' benchmark does, `"zero"` sets their features to
    zero. `expand` says which nodes are dropped first: those of the `"lowest"` degree, or of the
    `"highest"`, as the authors do on sets of Barabási–Albert graphs. The explained node is in every
    coalition.

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
        seed: int = 0,
        absent: Literal["split", "zero"] = "split",
        expand: Literal["lowest", "highest"] = "lowest",
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


class Tree(SearchTree):
    """The search tree of SubgraphX, from all nodes to few."""

    def __init__(self, options: SubgraphX, evaluator: NodeMaskEvaluator) -> None:
        super().__init__(options, evaluator, frozenset(range(evaluator.count)))
        self.options = options

    def _next_sets(self, nodes: NodeSet) -> Iterable[NodeSet]:
        if len(nodes) <= self.options.min_atoms:
            return
        inside = self.graph.subgraph(nodes)
        explained = self.evaluator.instance.node
        sign = 1 if self.options.expand == "lowest" else -1
        by_degree = sorted(nodes - {explained}, key=lambda v: (sign * inside.degree[v], v))
        for dropped in by_degree[: self.options.expand_atoms]:
            parts = map(frozenset, nx.connected_components(self.graph.subgraph(nodes - {dropped})))
            yield max(parts, key=lambda part: (explained in part, len(part), -min(part)))

    def _values(self, rows: Tensor) -> Tensor:
        if self.options.absent == "split":
            return super()._values(rows)
        return self.evaluator.values(rows, SubgraphKind.ZEROED_FEATURES)
