"""Moves: what the rounds of many climbs make of the blocks that were evaluated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eigsearch.search.base import Array
from eigsearch.search.problems import Problems
from eigsearch.search.refine.choice import take_best
from eigsearch.search.refine.steps import take_steps
from eigsearch.search.refine.units import joint_units
from eigsearch.search.refine.walker import Walker
from eigsearch.search.reranking import rank_around
from eigsearch.search.segments import Segments


def look_around(walkers: Sequence[Walker]) -> Sequence[None]:
    """Take up what flips of single groups say: the best one, what ties, and a new ranking.

    Groups that tie, as symmetric edges do, move together from here on: which of them would move
    alone could only depend on how the graph is numbered.
    """
    problems = Problems([each.problem for each in walkers])
    groups = Segments.of([each.order for each in walkers])
    start = groups.ptr.take(groups.owner)
    place = start + np.concatenate([each.order for each in walkers])
    inside = np.concatenate([each.keep for each in walkers]).take(place)
    tie = start + np.concatenate([each.rank_ties for each in walkers])
    phi = [
        np.concatenate([each.evaluated.phi_kept for each in walkers]),
        np.concatenate([each.evaluated.phi_removed for each in walkers]),
    ]
    units = joint_units(problems, groups, 2 * tie + inside, *phi)
    take_best(walkers, units.size.take(units.member) == 1)
    centre = np.array([each.centre[:2] for each in walkers]).T
    changes = [each - base.take(groups.owner) for each, base in zip(phi, centre, strict=True)]
    own = Segments(np.ones(len(walkers), np.int64))
    gained = problems.contrast(groups, *phi)
    gained -= problems.contrast(own, *centre).take(groups.owner)
    added = units.sums(np.where(inside, -gained, gained)) / units.size
    owned = groups.only(units.first)
    tie = owned.tie_numbers(added, problems.score_tolerance(owned, added))
    member = np.empty_like(place)
    member[place] = units.member - owned.ptr.take(groups.owner)
    columns = groups.split(member), *(owned.split(units.sums(each)) for each in changes)
    for walker, *found in zip(walkers, *columns, strict=True):
        walker.take_units(*found)
    if walkers[0].problem.connected:
        for walker, flipped in zip(walkers, groups.split(gained), strict=True):
            ranking = rank_around(walker.problem, walker.keep, 0.0, flipped)
            sizes = ranking.cuts_between(*walker.problem.allowed)
            walker.ask_prefixes(ranking.order.numpy(), np.array(sizes, np.int64))
        return [None] * len(walkers)
    tie_of_group = np.empty_like(place)
    tie_of_group[place] = tie.take(units.member)
    for walker, *sweep in zip(walkers, *_sweeps(problems, groups, tie_of_group), strict=True):
        walker.ask_prefixes(*sweep)
    return [None] * len(walkers)


def _sweeps(
    problems: Problems, groups: Segments, tie: Array
) -> tuple[Sequence[Array], Sequence[Array]]:
    """Return the order of the groups of each problem by their ties, and the ends that are allowed.

    Groups that tie stay in order.
    """
    order = np.lexsort((tie, groups.owner))
    is_end = np.append(np.diff(tie.take(order)) != 0, True)
    is_end[groups.ptr[1:] - 1] = True
    sizes = groups.place + 1
    ends = (is_end & problems.allows(groups, sizes)).nonzero()[0]
    order = order - groups.ptr.take(groups.owner)
    return groups.split(order), groups.only(ends).split(sizes.take(ends))


def advance(walkers: Sequence[Walker]) -> Sequence[None]:
    """Take up what the last blocks say; let each walker that goes on ask for the next one."""
    if news := [walker for walker in walkers if walker.evaluated.is_new]:
        take_best(news)
    for walker in walkers:
        walker.learn()
    going = [walker for walker in walkers if walker.goes_on()]
    near = [walker for walker in going if not walker.jump()]
    if near:
        take_steps(near)
    return [None] * len(walkers)
