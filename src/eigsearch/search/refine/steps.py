"""Steps: from each centre to the next, by the effects of flips that were measured around it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eigsearch.search.base import Array
from eigsearch.search.problems import Problems
from eigsearch.search.refine.choice import cost
from eigsearch.search.refine.pairs import pairs_of, shortlist
from eigsearch.search.refine.walker import Walker
from eigsearch.search.segments import Segments
from eigsearch.search.tie_breaking import order_by_predicted_gain

_SHORTLIST = 8  # units inside the centre, and as many outside, that may pair up


def take_steps(walkers: Sequence[Walker]) -> None:
    """Let each walker step to its next centre, and ask for the best predicted flips around that.

    A step starts at a subgraph that was just found to be the best, else at the last centre. It
    flips the two units whose flips predict most, or one of them, so that the pair is evaluated.
    """
    for walker in walkers:
        walker.follow()
    pairs = zip(walkers, _Crowd(walkers).best_pairs(), strict=True)
    going = [walker for walker, pair in pairs if walker.step(*pair)]
    if going:
        _Crowd(going).ask_best_flips()


class _Crowd:
    """The units around many centres as flat arrays."""

    def __init__(self, walkers: Sequence[Walker]) -> None:
        self.walkers = walkers
        self.problems = Problems([each.problem for each in walkers])
        units = [each.units for each in walkers]
        self.owned = Segments.of([each.size for each in units])
        self.inside = np.concatenate([each.inside for each in units])
        sign = np.where(self.inside, -1, 1)
        self.changes = (
            np.concatenate([each.kept for each in units]),
            np.concatenate([each.removed for each in units]),
            sign * np.concatenate([each.size for each in units]),
            sign * np.concatenate([each.depth for each in units]),
        )
        self.key = np.concatenate([each.key for each in units])
        self.centres = np.array([each.centre for each in walkers]).T
        self.centre_key = np.array([each.key for each in walkers])
        most = max(len(each.visited) for each in walkers)
        self.visited = np.array(
            [(each.visited + each.visited[:1] * most)[:most] for each in walkers]
        )
        self.groups = np.array([len(each.order) for each in walkers])

    def best_pairs(self) -> list[tuple[int, int]]:
        """Return the two units of each centre whose flips predict most, the better one first.

        They have the numbers that the centre gives them; (−1, −1) where no pair is allowed.
        """
        alone = _Flips(self, self.owned, np.arange(len(self.inside)))
        order = alone.descending(np.where(alone.new, alone.objective, -np.inf))
        left, right = pairs_of(shortlist(self.owned, self.inside, order, _SHORTLIST))
        best = _Flips(self, self.owned.only(left), left, right).best_new
        found = (best >= 0).nonzero()[0]
        pair = np.array([left, right])[:, best[found]]
        value = alone.allowed_objective.take(pair)
        swapped = value[1] > value[0] + alone.rounding.take(found)
        pairs = np.full((2, len(best)), -1)
        pairs[:, found] = np.where(swapped, pair[::-1], pair) - self.owned.ptr.take(found)
        return list(zip(*pairs.tolist(), strict=True))

    def ask_best_flips(self) -> None:
        """Let each walker ask for the best predicted flips around its centre."""
        alone = _Flips(self, self.owned, np.arange(len(self.inside)))
        order = alone.descending(alone.allowed_objective)
        owner = self.owned.owner.take(order)
        best = self.owned.only(order).split(order - self.owned.ptr.take(owner))
        chosen = [walker.choose(units) for walker, units in zip(self.walkers, best, strict=True)]
        asked = Segments(np.array([len(each) for each in chosen]))
        flips = np.array([unit for each in chosen for unit in each], np.int64)
        entries = flips + self.owned.ptr.take(asked.owner)
        columns = flips, *(each.take(entries) for each in (alone.size, alone.key, alone.depth))
        for walker, *own in zip(self.walkers, *map(asked.split, columns), strict=True):
            walker.ask(*own)


class _Flips:
    """What flips of one unit or two are predicted to make: the sum of what each changes alone."""

    def __init__(self, crowd: _Crowd, segments: Segments, *units: Array) -> None:
        owner = segments.owner
        self.problems, self.segments = crowd.problems, segments
        self.phi_kept, self.phi_removed, size, self.depth = (
            base.take(owner) + sum(column.take(each) for each in units)
            for base, column in zip(crowd.centres, crowd.changes, strict=True)
        )
        gain = self.problems.gain(segments, self.phi_kept, self.phi_removed)
        options = crowd.walkers[0].options
        self.objective = gain - cost(options, crowd.groups.take(owner), size, self.depth)
        allowed = self.problems.allows(segments, size)
        self.allowed_objective = np.where(allowed, self.objective, -np.inf)
        self.size = size.astype(np.int64)
        self.rounding = self.problems.gain_tolerance(segments, self.phi_kept, self.phi_removed)
        key = crowd.centre_key.take(owner)
        for each in units:
            key = key ^ crowd.key.take(each)
        self.key = key
        self.new = (key[:, None] != crowd.visited[owner]).all(axis=1)

    def descending(self, objective: Array) -> Array:
        """Return the flips whose objective is not −∞, the best of each problem first."""
        chosen = (objective > -np.inf).nonzero()[0]
        columns = (each.take(chosen) for each in (objective, self.phi_kept, self.phi_removed))
        part = self.segments.only(chosen)
        return chosen.take(order_by_predicted_gain(self.problems, part, *columns))

    @property
    def best_new(self) -> Array:
        """The flip of each problem that is allowed, new and predicts most; −1 if none is.

        Where probabilities saturate, gains tie, and log-odds still differ.
        """
        objective = np.where(self.new, self.allowed_objective, -np.inf)
        least = self.segments.highest(objective) - self.rounding
        close = (objective > -np.inf) & (objective >= least.take(self.segments.owner))
        contrast = self.problems.contrast(self.segments, self.phi_kept, self.phi_removed)
        tolerance = self.problems.score_tolerance(self.segments, contrast)
        return self.segments.first_best(np.where(close, contrast, -np.inf), tolerance)
