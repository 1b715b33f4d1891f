"""Search for the smallest sets of toggles that change a prediction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, combinations, islice
from math import comb

import numpy as np

from eigsearch._utils.tolerances import SCORE_TIE
from eigsearch.candidates import EvalCoroutine
from eigsearch.errors import InputError

Array = np.ndarray

# Sets of one size are rows of ascending positions, `[n, size]`. Returns the margin of each.
Evaluate = Callable[[Array], EvalCoroutine[Array]]
# The same for several families of sets, each a base set with one more toggle.
EvaluateGrown = Callable[[list[tuple[Array, Array]]], EvalCoroutine[Array]]

MAX_SUBSETS = 2**18  # the most sets that the exhaustive search evaluates
_BEAM = 4  # sets of each size that are grown further
_ROWS = 1 << 14  # sets that the exhaustive search lays out together


@dataclass(frozen=True)
class Flip:
    """A set of toggles that changes the prediction, and the margin that it leads to."""

    toggles: tuple[int, ...]
    margin: float


@dataclass(frozen=True, eq=False)
class Space:
    """The search space: the toggles, and functions that evaluate sets of them.

    Attributes:
        alone: The margin of each toggle alone.
        removes: Whether each toggle removes, and does not add.
        evaluate: Returns the margins of sets.
        evaluate_grown: Returns the margins of sets with each of some toggles more.
        allows: Returns whether a set leads to a valid graph.
        max_size: The most toggles in a set.
        answers: How many sets to find.
    """

    alone: Array
    removes: Array
    evaluate: Evaluate
    evaluate_grown: EvaluateGrown
    allows: Callable[[Array], bool]
    max_size: int
    answers: int

    @property
    def sizes(self) -> range:
        """The sizes to try."""
        return range(1, min(self.max_size, len(self.alone)) + 1)

    def margins(self, sets: Array) -> EvalCoroutine[Array]:
        """Return the margins of sets of one size."""
        if sets.shape[1] == 1:
            return self.alone[sets[:, 0]]
        return (yield from self.evaluate(sets))


def greedy_flips(space: Space) -> EvalCoroutine[list[Flip]]:
    """Return small sets that change the prediction, grown toggle by toggle, smallest first.

    This is a beam search: of each size the best few sets, and the best few sets of removals, are
    extended. A set that changes the prediction is reduced to its smallest part that still does.
    """
    found: list[Flip] = []
    beam = np.zeros((1, 0), np.int64)
    for _ in space.sizes:
        grown = _without(_grown(beam, len(space.alone)), found)
        sets = grown[:, :-2]
        if not len(sets):
            break
        margin = yield from _margins_of_grown(space, beam, grown)
        order = _order(margin)
        for entry in order[margin[order] < 0]:
            if _is_new(sets[entry], found) and space.allows(sets[entry]):
                flip = Flip(tuple(sets[entry].tolist()), float(margin[entry]))
                found.append((yield from _reduced(space, flip)))
        if len(found) >= space.answers:
            break
        beam = _best(space, sets, order[margin[order] >= 0])
    return sorted(_smallest(found), key=lambda flip: len(flip.toggles))[: space.answers]


def exhaustive_flips(space: Space) -> EvalCoroutine[list[Flip]]:
    """Return the smallest sets that change the prediction, of all sets.

    Raises:
        InputError: If there are too many sets.
    """
    found: list[Flip] = []
    width = len(space.alone)
    for size in space.sizes:
        _check_count(width, size)
        subsets = combinations(range(width), size)
        flips: list[Flip] = []
        while len(sets := _block(subsets, size)):
            sets = sets[[_is_new(toggles, found) for toggles in sets]] if found else sets
            margin = yield from space.margins(sets)
            flips += [
                Flip(tuple(sets[entry].tolist()), float(margin[entry]))
                for entry in np.flatnonzero(margin < 0)
                if space.allows(sets[entry])
            ]
        order = _order(np.array([flip.margin for flip in flips]))
        found += [flips[entry] for entry in order]
        if len(found) >= space.answers:
            break
    return found[: space.answers]


SEARCHES = {"greedy": greedy_flips, "exhaustive": exhaustive_flips}


def _best(space: Space, sets: Array, order: Array) -> Array:
    """Return the sets to extend: the best few valid ones, and the best few removals.

    So what may be added never keeps a set of removals from being found.
    """
    most = max(_BEAM, space.answers)
    able = list(islice((entry for entry in order if space.allows(sets[entry])), most))
    removals = order[space.removes[sets[order]].all(axis=1)][:most]
    return sets[list(dict.fromkeys([*able, *removals.tolist()]))]


def _grown(beam: Array, width: int) -> Array:
    """Return the different sets with one toggle more, in ascending order.

    The last two columns are the number of the set that grew, and the toggle.
    """
    grown = [
        np.column_stack(
            [
                np.broadcast_to(toggles, (width, len(toggles))),
                np.arange(width),
                np.full(width, number),
                np.arange(width),
            ]
        )
        for number, toggles in enumerate(beam)
    ]
    size = beam.shape[1] + 1
    found = np.concatenate(grown) if grown else np.zeros((0, size + 2), np.int64)
    found = found[~(found[:, : size - 1] == found[:, -1:]).any(axis=1)]
    found[:, :size].sort(axis=1)
    _, first = np.unique(found[:, :size], axis=0, return_index=True)
    return found[first]


def _margins_of_grown(space: Space, beam: Array, grown: Array) -> EvalCoroutine[Array]:
    """Return the margins of grown sets."""
    if beam.shape[1] == 0:
        return space.alone[grown[:, -1]]
    parent, toggle = grown[:, -2], grown[:, -1]
    families = [(beam[number], toggle[parent == number]) for number in np.unique(parent)]
    margin = np.empty(len(grown))
    margin[np.argsort(parent, kind="stable")] = yield from space.evaluate_grown(families)
    return margin


def _without(sets: Array, found: list[Flip]) -> Array:
    """Return the sets, with what else their rows hold, that hold none of those found."""
    for flip in found:
        positions = sets[:, :-2]
        sets = sets[np.isin(positions, flip.toggles).sum(axis=1) < len(flip.toggles)]
    return sets


def _is_new(toggles: Array, found: list[Flip]) -> bool:
    return not any(set(flip.toggles) <= set(toggles.tolist()) for flip in found)


def _smallest(found: list[Flip]) -> list[Flip]:
    """Return the sets that hold no other one; of equal ones the first."""
    sets = [frozenset(flip.toggles) for flip in found]
    return [
        flip
        for number, flip in enumerate(found)
        if not any(other < sets[number] for other in sets) and sets[number] not in sets[:number]
    ]


def _reduced(space: Space, flip: Flip) -> EvalCoroutine[Flip]:
    """Return the set without the toggles that it does not need."""
    while len(flip.toggles) > 1:
        parts = np.array(list(combinations(flip.toggles, len(flip.toggles) - 1)), np.int64)
        margin = yield from space.margins(parts)
        order = _order(margin)
        able = [entry for entry in order[margin[order] < 0] if space.allows(parts[entry])]
        if not able:
            break
        flip = Flip(tuple(parts[able[0]].tolist()), float(margin[able[0]]))
    return flip


def _block(subsets: combinations[tuple[int, ...]], size: int) -> Array:
    """Return the next subsets as rows."""
    flat = chain.from_iterable(islice(subsets, _ROWS))
    return np.fromiter(flat, np.int64).reshape(-1, size)


def _order(margin: Array) -> Array:
    """Return the ascending order of margins; those that tie stay in order."""
    return np.argsort(np.round(margin / SCORE_TIE), kind="stable")


def _check_count(width: int, size: int) -> None:
    if comb(width, size) > MAX_SUBSETS:
        raise InputError(
            f"Expected at most {MAX_SUBSETS:,} sets of edges to try (got {comb(width, size):,} of "
            f"size {size}). Use search='greedy', or a smaller `max_size`."
        )
