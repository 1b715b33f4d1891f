"""The walker: where one climb stands, and the best subgraph that it has met."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from eigsearch.search.base import Array, Problem
from eigsearch.search.refine.evaluated import Block, Evaluated, flip_block, prefix_block
from eigsearch.search.refine.units import UnitColumns, columns_of, rank_ties

if TYPE_CHECKING:
    from eigsearch.search.refine.options import Refine

_ENOUGH = 0.98  # of the highest gain that there can be: little is left to find
_MAX_EVALUATIONS = 5.0  # times the sweep's, the ranking's included
_MAX_STAYS = 2  # rounds in a row that find nothing better


@dataclass(frozen=True, eq=False)
class State:
    """A subgraph, with φ of it alone and of the graph without it."""

    keep: Array
    phi_kept: float
    phi_removed: float
    gain: float
    objective: float


class Walker:
    """One climb: a centre, whose surroundings are evaluated, and the best subgraph so far.

    Attributes:
        options: The options of the climb.
        problem: The problem.
        evaluated: What was evaluated.
        order: The groups by rank.
        rank_ties: The number of the tie of each group, by rank.
        best: The best subgraph so far.
        keep, key: The centre.
        visited: The keys of all centres.
        floor: The gain that it may not fall below.
        centre: φ of the centre and of its complement, predicted until they are evaluated; the
            number of its groups, and the sum of their places in the ranking.
        units: The groups that tie, and what flipping them changes around the centre.
        block: What to evaluate next; None to stop.
    """

    best: State
    floor: float
    keep: Array
    key: int
    centre: tuple[float, float, int, float]
    units: UnitColumns
    block: Block | None

    def __init__(self, options: Refine, problem: Problem) -> None:
        self.options = options
        self.problem = problem
        self.evaluated = Evaluated(problem.ranking.count)
        self.order = problem.ranking.order.numpy()
        self.rank_ties = rank_ties(problem.ranking)
        self._depth = np.zeros(len(self.order))
        if options.anchor:
            ends = np.array([0, *problem.ranking.cuts])
            self._depth[self.order] = ((ends[:-1] + ends[1:] - 1) / 2).take(self.rank_ties)
        self.visited: list[int] = []
        self._flips: Array | None = None
        self._rounds = self._stays = 0
        self._moved = False

    @property
    def kind(self) -> Hashable:
        """What walkers have to share to take their steps together."""
        return self.options, self.problem.target.task, self.problem.connected

    @property
    def remaining(self) -> int:
        """How many subgraphs may still be evaluated, each alone and removed."""
        return max(0, int(self._budget - self.evaluated.count) // 2)

    @property
    def is_enough(self) -> bool:
        """Whether the best subgraph leaves little to find."""
        return self.best.gain >= _ENOUGH * self.problem.max_gain

    def prefixes(self, order: Array, sizes: Array) -> Block:
        """Return the block of the first k groups of an order, for each size k."""
        return prefix_block(order, sizes, self._prefix_keys(order), self._depth)

    def _prefix_keys(self, order: Array) -> Array:
        """Return the key of the first k groups of an order, for every size k from 1."""
        return np.bitwise_xor.accumulate(self.evaluated.group_key.take(order))

    def key_of(self, keep: Array) -> int:
        """Return the key of a subgraph."""
        return int(np.bitwise_xor.reduce(self.evaluated.group_key[keep]))

    def start(self, best: State) -> None:
        """Stand at the sweep's subgraph; ask for each group flipped, by rank."""
        groups = len(self.order)
        self.best = self._before = self._before_sweep = best
        self.floor = best.gain
        # the ranking's evaluations count as the sweep's
        self._budget = _MAX_EVALUATIONS * (1 + groups + self.evaluated.count) - (1 + groups)
        self._stand_at(best)
        one = np.ones(groups, np.int64)
        columns = one, self.evaluated.group_key, self._depth, self.keep
        self._ask_every(self.order, np.arange(groups), *columns)

    def take_units(self, member: Array, kept: Array, removed: Array) -> None:
        """Take up what flips of single groups say.

        Args:
            member: The unit of each group.
            kept, removed: What flipping each unit changes.
        """
        self.units = self._columns(member)
        self.units.kept[:-1], self.units.removed[:-1] = kept, removed

    def ask_prefixes(self, order: Array, sizes: Array) -> None:
        """Ask for the new ones of the first k groups of an order, for each size k."""
        key, known = self._prefix_keys(order), self.evaluated.known
        sizes = sizes[[each not in known for each in key.take(sizes - 1).tolist()]]
        self._flips, self._before_sweep = None, self.best
        fits = 0 < len(sizes) <= self.remaining
        self.block = prefix_block(order, sizes, key, self._depth) if fits else None

    def learn(self) -> None:
        """Take up what the flips around the centre changed, if the last block was of flips."""
        if self._flips is None:
            return
        flips, kept, removed = self._flips, self.evaluated.phi_kept, self.evaluated.phi_removed
        if flips[0] == self.units.none:
            self.centre = float(kept[0]), float(removed[0]), *self.centre[2:]
        self.units.kept[flips] = kept - self.centre[0]
        self.units.removed[flips] = removed - self.centre[1]

    def goes_on(self) -> bool:
        """End a round, and return whether there is another one."""
        self.block = None
        self._rounds += 1
        self._moved = self.best is not self._before
        self._stays = 0 if self._moved else self._stays + 1
        self._before = self.best
        left = self._rounds < self.options.rounds and self._stays < _MAX_STAYS
        return left and not self.is_enough

    def jump(self) -> bool:
        """Stand at the best subgraph, and ask for each unit flipped, if a sweep has found it."""
        if self._flips is not None or self.best is self._before_sweep:
            return False
        member = 2 * self.units.member + self.best.keep  # a sweep may split a unit
        self._stand_at(self.best)
        self.units = self._columns(np.unique(member, return_inverse=True)[1])
        units = self.units
        columns = units.size, units.key, units.depth, units.inside
        self._ask_every(np.arange(units.none), units.member, *columns)
        return True

    def follow(self) -> None:
        """Stand at the best subgraph, if this round has found it."""
        if not self._moved:
            return
        for unit in np.unique(self.units.member[self.best.keep ^ self.keep]).tolist():
            self._flip(unit)
        self.centre = self.best.phi_kept, self.best.phi_removed, *self.centre[2:]
        self.visited.append(self.key)

    def step(self, first: int, second: int) -> bool:
        """Stand where two units are flipped; return False if there are none.

        Only the first one is flipped where both make the smallest size that is allowed, or the
        largest: too few flips would be allowed around that.
        """
        if first < 0:
            return False
        self._flip(first)
        smallest, largest = self.problem.allowed
        sign = -1 if self.units.inside[second] else 1
        if smallest < self.centre[2] + sign * self.units.size[second] < largest:
            self._flip(second)
        self.visited.append(self.key)
        return True

    def _flip(self, unit: int) -> None:
        """Flip a unit of the centre, whose φ is a prediction then."""
        units, sign = self.units, -1 if self.units.inside[unit] else 1
        phi_kept, phi_removed, size, depth = self.centre
        self.centre = (
            phi_kept + float(units.kept[unit]),
            phi_removed + float(units.removed[unit]),
            size + sign * int(units.size[unit]),
            depth + sign * float(units.depth[unit]),
        )
        self.keep = self.keep ^ (units.member == unit)
        self.key ^= int(units.key[unit])
        units.inside[unit] ^= True
        units.kept[unit] *= -1
        units.removed[unit] *= -1

    def choose(self, units: Array) -> list[int]:
        """Return the first new ones of some units to flip, and first none if that is new."""
        known, none = self.evaluated.known, self.units.none
        keys = (self.units.key.take(units) ^ self.key).tolist()
        pairs = zip(units.tolist(), keys, strict=True)
        new = [unit for unit, key in pairs if key not in known and unit != none]
        centre = [] if self.key in known else [none]
        return [*centre, *new[: self.options.pairs]][: self.remaining]

    def ask(self, flips: Array, size: Array, key: Array, depth: Array) -> None:
        """Ask for units flipped around the centre.

        Args:
            flips: The units.
            size, key, depth: Those of the subgraphs.
        """
        self._flips = flips
        columns = size, key, depth
        self.block = (
            flip_block(self.keep, self.units.member, flips, columns) if len(flips) else None
        )

    def _ask_every(
        self, flips: Array, member: Array, size: Array, key: Array, depth: Array, inside: Array
    ) -> None:
        """Ask for units flipped around the centre, whose columns are given; all, or nothing."""
        sign = np.where(inside, -1, 1)
        columns = (
            (self.centre[2] + sign * size).take(flips),
            (self.key ^ key).take(flips),
            (self.centre[3] + sign * depth).take(flips),
        )
        fits = len(flips) <= self.remaining
        self._flips = flips
        self.block = flip_block(self.keep, member, flips, columns) if fits else None

    def _stand_at(self, state: State) -> None:
        self.keep, self.key = state.keep, self.key_of(state.keep)
        self.visited.append(self.key)
        size, depth = int(np.count_nonzero(state.keep)), float(self._depth[state.keep].sum())
        self.centre = state.phi_kept, state.phi_removed, size, depth

    def _columns(self, member: Array) -> UnitColumns:
        return columns_of(member, self.evaluated.group_key, self._depth, self.keep)
