"""Paths between the two ends of an explained link, ranked by their weakest edge."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from eigsearch.errors import InputError

if TYPE_CHECKING:
    from eigsearch.explanation.explanation import SubgraphExplanation

Around = dict[int, list[tuple[int, int]]]  # per node: its neighbours, and the group that joins them
_FIRST = 64  # groups searched first; doubled while they contain too few paths


@dataclass(frozen=True)
class LinkPath:
    """A path from one end of a link to the other, along edges in either direction.

    Attributes:
        nodes: Its nodes, from the first end to the second.
        groups: The groups that it runs along.
        score: The smallest absolute score of these groups.
    """

    nodes: tuple[Any, ...]
    groups: tuple[int, ...]
    score: float

    def __len__(self) -> int:
        """Return the number of its edges."""
        return len(self.groups)


def link_paths(explanation: SubgraphExplanation, k: int | None, max_length: int) -> list[LinkPath]:
    """Return the k best paths between the ends of a link, or all of them.

    A path is as good as its weakest edge, and among equals a shorter one is better. The
    search uses the groups with the highest scores first, and more only if it finds too few paths.

    Raises:
        InputError: If no link was explained, or the numbers are not positive.
    """
    if explanation.link is None:
        raise InputError(
            "Expected the explanation of a link (got that of a node or a graph). Explain one with "
            "link=(u, v)."
        )
    if max_length < 1 or (k is not None and k < 1):
        raise InputError(
            f"Expected `k` and `max_length` to be at least 1 (got {k} and {max_length}). "
            "Pass k=None for all paths."
        )
    value = explanation.score.abs().cpu().numpy()
    order = np.argsort(-value, kind="stable")
    count = len(value) if k is None else min(_FIRST, len(value))
    while True:
        while 0 < count < len(value) and value[order[count]] == value[order[count - 1]]:
            count += 1  # equal scores are walked together
        found = _ranked(explanation, set(order[:count].tolist()), value, max_length)
        if count == len(value) or (k is not None and len(found) >= k):
            return found[:k]
        count = min(2 * count, len(value))


def _ranked(
    explanation: SubgraphExplanation, groups: set[int], value: np.ndarray, max_length: int
) -> list[LinkPath]:
    one, other = explanation.flat_anchors
    schema = explanation.flat.schema
    walks = _walks(_around(explanation, groups), one, other, max_length)
    paths = dict(walks)
    ranked = sorted(
        paths.items(), key=lambda each: (-min(value[list(each[1])]), len(each[1]), each[0])
    )
    return [
        LinkPath(
            tuple(n if schema is None else schema.node_name(n) for n in nodes),
            along,
            float(min(value[list(along)])),
        )
        for nodes, along in ranked
    ]


def _around(explanation: SubgraphExplanation, groups: set[int]) -> Around:
    """Return the neighbours of each node by the best group that joins them."""
    ends = explanation.evaluated_ends.cpu()
    score = explanation.score.abs().tolist()
    best: dict[tuple[int, int], int] = {}
    for (u, v), group in zip(ends.t().tolist(), explanation.group.tolist(), strict=True):
        if group in groups:
            for pair in ((u, v), (v, u)):
                if pair not in best or score[group] > score[best[pair]]:
                    best[pair] = group
    around: Around = defaultdict(list)
    for (u, v), group in best.items():
        around[u].append((v, group))
    return around


def _walks(
    around: Around, one: int, other: int, max_length: int
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yield the nodes and groups of each path that visits no node twice."""
    stack: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((one,), ())]
    while stack:
        nodes, along = stack.pop()
        for node, group in around.get(nodes[-1], ()):
            if node == other:
                yield (*nodes, node), (*along, group)
            elif node not in nodes and len(along) + 1 < max_length:
                stack.append(((*nodes, node), (*along, group)))
