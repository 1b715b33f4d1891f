"""Moves: what a round of the climb evaluates beside single toggles, for many graphs at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import torch

from eigsearch.search.base import Array, Problem
from eigsearch.search.evaluation_cache import EvaluationCache, Proposals
from eigsearch.search.problems import Problems
from eigsearch.search.refine.pairs import Effects, UnitMoves, propose_units
from eigsearch.search.refine.units import Units, joint_units
from eigsearch.search.reranking import rank_around
from eigsearch.search.segments import Segments

if TYPE_CHECKING:
    from eigsearch.search.refine.options import Refine


@dataclass(frozen=True, eq=False)
class Surroundings:
    """A subgraph, and φ of what one toggle makes of it.

    Attributes:
        options: The options of the climb.
        problem: The problem.
        cache: What was evaluated.
        rank_ties: The number of the tie of each group, by rank.
        keep: The subgraph.
        phi_kept, phi_removed: φ of it, and of its complement.
        toggled_kept, toggled_removed: The same with each group toggled, by rank.
        sweep: Whether to sweep along the ranking that the toggles give.
    """

    options: Refine
    problem: Problem
    cache: EvaluationCache
    rank_ties: Array
    keep: Array
    phi_kept: float
    phi_removed: float
    toggled_kept: Array
    toggled_removed: Array
    sweep: bool

    @property
    def kind(self) -> tuple[Refine, str, bool]:
        """What surroundings have to share for their moves to be proposed together."""
        return self.options, self.problem.target.task, self.problem.connected


@dataclass(frozen=True, eq=False)
class Moves:
    """What to try around a subgraph.

    Attributes:
        alone: The toggles that tie with no other, by rank.
        units: The best predicted moves of tied units and of pairs of units.
        sweep: The prefixes of the ranking that the toggles give, where they are wanted.
    """

    alone: Array
    units: Proposals
    sweep: Proposals | None


def propose_moves(around: Sequence[Surroundings]) -> list[Moves]:
    """Return what to try around each subgraph, all of one `kind`."""
    return _Round(around).moves()


class _Round:
    """The surroundings of many subgraphs as flat arrays, groups of each by rank."""

    def __init__(self, around: Sequence[Surroundings]) -> None:
        self.options = around[0].options
        self.around = around
        self.problems = Problems([each.problem for each in around])
        orders = [each.problem.ranking.order.numpy() for each in around]
        self.groups = Segments.of(orders)
        self.order = np.concatenate(orders)
        start = self.groups.ptr.take(self.groups.owner)
        self.inside = np.concatenate([each.keep for each in around]).take(start + self.order)
        keys = np.concatenate([each.cache.group_key for each in around])
        self.key = keys.take(start + self.order)
        self.kept = np.concatenate([each.toggled_kept for each in around])
        self.removed = np.concatenate([each.toggled_removed for each in around])
        self.phi_kept = np.array([each.phi_kept for each in around])
        self.phi_removed = np.array([each.phi_removed for each in around])

    def moves(self) -> list[Moves]:
        """Return what to try around each subgraph."""
        units = self.units
        single = units.first.take((units.size == 1).nonzero()[0])
        alone = self.groups.only(single).split(self.groups.place.take(single))
        return list(map(Moves, alone, self._propose_units(), self._propose_sweeps()))

    @cached_property
    def units(self) -> Units:
        """The units of toggles that tie.

        Toggles that tie, as those of symmetric edges do, move together: which of them would move
        alone could only depend on how the graph is numbered.
        """
        tie = np.concatenate([each.rank_ties for each in self.around])
        tie += self.groups.ptr.take(self.groups.owner)  # a problem has at most a tie for each group
        return joint_units(
            self.problems, self.groups, 2 * tie + self.inside, self.kept, self.removed
        )

    def _propose_units(self) -> list[Proposals]:
        """Return the best predicted moves of tied units and of pairs of units."""
        units, owner = self.units, self.groups.owner
        effects = Effects(
            units.sums(self.kept - self.phi_kept.take(owner)),
            units.sums(self.removed - self.phi_removed.take(owner)),
            np.where(self.inside.take(units.first), -units.size, units.size),
            self.phi_kept,
            self.phi_removed,
            np.bincount(owner, self.inside, len(self.around)).astype(np.int64),
        )
        owned = self.groups.only(units.first)
        count, parsimony = self.options.pairs, self.options.parsimony
        moves = propose_units(self.problems, owned, units, effects, parsimony, count)
        keys = moves.segments.split(self._keys(moves))
        parts = zip(self.around, self._rows(moves), keys, strict=True)
        return [_admitted_rows(*part) for part in parts]

    def _keys(self, moves: UnitMoves) -> Array:
        """Return the key of the subgraph after each move."""
        unit_key = np.zeros(len(self.units), np.int64)
        np.bitwise_xor.at(unit_key, self.units.member, self.key)
        current = self.groups.exclusive_or(np.where(self.inside, self.key, 0))
        second = np.where(moves.left == moves.right, 0, unit_key.take(moves.right))
        return current.take(moves.segments.owner) ^ unit_key.take(moves.left) ^ second

    def _rows(self, moves: UnitMoves) -> list[Array]:
        """Return the keep-rows of the subgraphs after the moves of each problem."""
        width = self.groups.counts.take(moves.segments.owner)
        cells = Segments(width)
        column = cells.place + self.groups.ptr.take(moves.segments.owner).take(cells.owner)
        member = self.units.member.take(column)
        toggled = member == moves.left.take(cells.owner)
        toggled |= member == moves.right.take(cells.owner)
        flat = np.empty(len(column), bool)
        flat[cells.ptr.take(cells.owner) + self.order.take(column)] = (
            self.inside.take(column) ^ toggled
        )
        bounds = pairwise(cells.ptr.take(moves.segments.ptr).tolist())
        parts = zip(bounds, self.groups.counts.tolist(), strict=True)
        return [flat[start:stop].reshape(-1, groups) for (start, stop), groups in parts]

    def _propose_sweeps(self) -> list[Proposals | None]:
        """Return the prefixes of the rankings around the subgraphs that split no tie."""
        if not any(each.sweep for each in self.around):
            return [None] * len(self.around)
        current = self.problems.contrast(
            Segments(np.ones(len(self.around), np.int64)), self.phi_kept, self.phi_removed
        )
        contrast = self.problems.contrast(self.groups, self.kept, self.removed)
        if self.around[0].problem.connected:
            parts = zip(self.around, current, self.groups.split(contrast), strict=True)
            return [_grown_sweep(*part) for part in parts]
        gained = contrast - current.take(self.groups.owner)
        return self._prefixes(np.where(self.inside, -gained, gained))

    def _prefixes(self, added: Array) -> list[Proposals | None]:
        """Return the prefixes of the rankings by what each group adds."""
        groups = self.groups
        tie = groups.tie_numbers(added, self.problems.score_tolerance(groups, added))
        by_tie = np.lexsort((tie, groups.owner))
        order, tie = self.order.take(by_tie), tie.take(by_tie)
        key = np.bitwise_xor.accumulate(self.key.take(by_tie))
        before = np.append(0, key).take(groups.ptr[:-1])
        last = np.append(tie[1:] != tie[:-1], True)
        last[groups.ptr[1:] - 1] = True
        last &= self.problems.allows(groups, groups.place + 1)
        ends = last.nonzero()[0]
        key = key.take(ends) ^ before.take(groups.owner.take(ends))
        cuts = groups.only(ends)
        sizes = cuts.split(groups.place.take(ends) + 1)
        parts = zip(self.around, groups.split(order), sizes, cuts.split(key), strict=True)
        return [
            each.cache.prefixes(torch.from_numpy(own), size.tolist(), keys) if each.sweep else None
            for each, own, size, keys in parts
        ]


def _admitted_rows(around: Surroundings, mask: Array, key: Array) -> Proposals:
    """Return the keep-rows that are connected, or all of them if none has to be."""
    if around.problem.connected:
        admitted = around.problem.admits(mask)
        mask, key = mask[admitted], key[admitted]
    return around.cache.rows(mask, key)


def _grown_sweep(around: Surroundings, contrast: float, toggled: Array) -> Proposals | None:
    """Return the connected prefixes of the ranking around a subgraph."""
    if not around.sweep:
        return None
    ranking = rank_around(around.problem, around.keep, contrast, toggled)
    sizes = ranking.cuts_between(*around.problem.allowed)
    return around.cache.prefixes(ranking.order, sizes)
