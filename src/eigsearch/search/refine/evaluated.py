"""Evaluated: what a climb has asked so far, block by block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from eigsearch.candidates import CandidateSet, Complements, EvalCoroutine, JointFlips, Prefixes
from eigsearch.search.base import Array
from eigsearch.search.evaluation_cache import EvaluationCache


@dataclass(frozen=True, eq=False)
class Block:
    """Subgraphs to evaluate together: each kept alone, and removed from the graph.

    Attributes:
        size: The number of groups of each.
        key: The key of each: the exclusive or of the random numbers of its groups.
        depth: The sum over its groups of their places in the ranking.
        rows: Returns the keep-masks of the given entries.
        kept, removed: The candidates, alone and removed.
    """

    size: Array
    key: Array
    depth: Array
    rows: Callable[[Array], Array]
    kept: CandidateSet
    removed: CandidateSet

    def __len__(self) -> int:
        return len(self.size)


class Evaluated:
    """What was evaluated, with φ of each subgraph and of each complement.

    Attributes:
        group_key: A random number for each group, the same for all graphs of a size.
        known: The keys of all subgraphs.
        count: The number of candidates.
        block, phi_kept, phi_removed: The last block, and φ.
        is_new: Whether nobody has looked at the last block.
        past: Each block that is not forgotten, and φ.
    """

    block: Block
    phi_kept: Array
    phi_removed: Array

    def __init__(self, groups: int) -> None:
        self.group_key = EvaluationCache(groups).group_key
        self.known: set[int] = set()
        self.count = 0
        self.is_new = False
        self.past: list[tuple[Block, Array, Array]] = []

    def evaluate(self, block: Block) -> EvalCoroutine[None]:
        """Evaluate a block."""
        kept, removed = yield [block.kept, block.removed]
        self.block, self.phi_kept, self.phi_removed = block, kept.numpy(), removed.numpy()
        self.past.append((block, self.phi_kept, self.phi_removed))
        self.known.update(block.key.tolist())
        self.count += 2 * len(block)
        self.is_new = True

    def forget(self) -> None:
        """Forget what was evaluated; the count stays."""
        self.known.clear()
        self.past.clear()


def prefix_block(order: Array, sizes: Array, key: Array, depth: Array) -> Block:
    """Return the block of the first k groups of an order, for each size k, ascending.

    Args:
        order: The groups.
        sizes: The sizes.
        key: The key of the first k groups, for every size k from 1.
        depth: The place of each group in the ranking.
    """

    def rows(entries: Array) -> Array:
        position = np.empty(len(order), np.int64)
        position[order] = np.arange(len(order))
        return position < sizes[entries, None]

    ends, listed, ranked = sizes - 1, sizes.tolist(), torch.from_numpy(order)
    return Block(
        sizes,
        key.take(ends),
        depth.take(order).cumsum().take(ends),
        rows,
        Prefixes(ranked, listed),
        Complements(ranked, listed),
    )


def flip_block(
    keep: Array, member: Array, units: Array, columns: tuple[Array, Array, Array]
) -> Block:
    """Return the block of a subgraph with one unit flipped in each.

    Args:
        keep: The subgraph.
        member: The unit of each group.
        units: The unit of each entry; one without groups leaves the subgraph as it is.
        columns: Size, key and depth of each.
    """
    base, of, listed = torch.from_numpy(keep), torch.from_numpy(member), units.tolist()
    return Block(
        *columns,
        lambda entries: keep ^ (member == units[entries, None]),
        JointFlips(base, of, listed),
        JointFlips(~base, of, listed),
    )
