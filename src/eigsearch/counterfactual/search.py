"""Search for the smallest sets of toggles that change a prediction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, islice
from math import comb

import numpy as np

from eigsearch._utils.tolerances import SCORE_TIE
from eigsearch.errors import InputError

Array = np.ndarray
Toggles = tuple[int, ...]  # ascending positions

# Margins of rows, each of which marks the positions that are toggled.
Evaluate = Callable[[Array], Array]

MAX_SUBSETS = 2**18  # sets that the exhaustive search evaluates at most
_BEAM = 4  # sets of each size that are grown further
_ROWS = 1 << 14  # sets that the exhaustive search lays out together


@dataclass(frozen=True)
class Flip:
    """A set of toggles that changes the prediction, and the margin that it leads to."""

    toggles: Toggles
    margin: float


def greedy_flips(evaluate: Evaluate, width: int, max_size: int, answers: int) -> list[Flip]:
    """Return small sets that change the prediction, grown toggle by toggle, smallest first.

    Of each size the few sets with the lowest margins grow on. A set that changes the prediction is
    reduced to its smallest part that still does.

    Args:
        evaluate: Returns the margins of rows of toggles.
        width: The number of positions that can be toggled.
        max_size: The most toggles.
        answers: How many sets to find.
    """
    found: list[Flip] = []
    beam: list[Toggles] = [()]
    for _ in range(min(max_size, width)):
        sets = _grown(beam, width, found)
        if not sets:
            break
        margin = evaluate(_rows(sets, width))
        order = _order(margin)
        flips = [Flip(sets[i], float(margin[i])) for i in order if margin[i] < 0]
        for flip in flips:
            _add(found, _reduced(evaluate, flip, width))
        if len(found) >= answers:
            break
        beam = [sets[i] for i in order if margin[i] >= 0][: max(_BEAM, answers)]
    return sorted(found, key=lambda flip: len(flip.toggles))[:answers]


def exhaustive_flips(evaluate: Evaluate, width: int, max_size: int, answers: int) -> list[Flip]:
    """Return the smallest sets that change the prediction, of all sets; see `greedy_flips`.

    Raises:
        InputError: If there are too many sets.
    """
    found: list[Flip] = []
    for size in range(1, min(max_size, width) + 1):
        _check_count(width, size)
        subsets = combinations(range(width), size)
        flips: list[Flip] = []
        while sets := [s for s in islice(subsets, _ROWS) if not _holds_any(s, found)]:
            margin = evaluate(_rows(sets, width))
            flips += [Flip(sets[i], float(margin[i])) for i in np.flatnonzero(margin < 0)]
        order = _order(np.array([flip.margin for flip in flips]))
        found += [flips[i] for i in order]
        if len(found) >= answers:
            break
    return found[:answers]


def _grown(beam: Sequence[Toggles], width: int, found: Sequence[Flip]) -> list[Toggles]:
    """Return the sets with one toggle more, without those that hold a set found before."""
    grown = dict.fromkeys(
        tuple(sorted((*toggles, position)))
        for toggles in beam
        for position in range(width)
        if position not in toggles
    )
    return [toggles for toggles in grown if not _holds_any(toggles, found)]


def _holds_any(toggles: Toggles, found: Sequence[Flip]) -> bool:
    return any(set(flip.toggles) <= set(toggles) for flip in found)


def _add(found: list[Flip], flip: Flip) -> None:
    """Add a set, unless it holds another one."""
    if not _holds_any(flip.toggles, found):
        found.append(flip)


def _reduced(evaluate: Evaluate, flip: Flip, width: int) -> Flip:
    """Return the set without the toggles that it does not need."""
    while len(flip.toggles) > 1:
        parts = list(combinations(flip.toggles, len(flip.toggles) - 1))
        margin = evaluate(_rows(parts, width))
        if not (margin < 0).any():
            break
        best = int(_order(margin)[0])
        flip = Flip(parts[best], float(margin[best]))
    return flip


def _rows(sets: Sequence[Toggles], width: int) -> Array:
    rows = np.zeros((len(sets), width), bool)
    number = np.repeat(np.arange(len(sets)), [len(toggles) for toggles in sets])
    rows[number, list(_flat(sets))] = True
    return rows


def _flat(sets: Sequence[Toggles]) -> Iterator[int]:
    return chain.from_iterable(sets)


def _order(margin: Array) -> Array:
    """Return the ascending order of margins; those that tie stay in order."""
    return np.argsort(np.round(margin / SCORE_TIE), kind="stable")


def _check_count(width: int, size: int) -> None:
    if comb(width, size) > MAX_SUBSETS:
        raise InputError(
            f"Expected at most {MAX_SUBSETS:,} sets of edges to try (got {comb(width, size):,} of "
            f"size {size}). Use search='greedy', or a smaller `max_size`."
        )
