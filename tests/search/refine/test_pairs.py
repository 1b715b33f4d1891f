from __future__ import annotations

import numpy as np

from eigsearch.search.refine.pairs import pairs_of, shortlist
from eigsearch.search.segments import Segments


def test_pairs_of_units_are_all_two_of_one_problem() -> None:
    left, right = pairs_of([np.array([1, 3, 4]), np.array([6]), np.array([8, 9])])
    assert list(zip(left.tolist(), right.tolist(), strict=True)) == [(1, 3), (1, 4), (3, 4), (8, 9)]


def test_shortlist_takes_the_first_inside_and_the_first_outside_of_each_problem() -> None:
    owned = Segments(np.array([5, 3]))
    inside = np.array([True, False, False, True, False, False, False, True])
    order = np.array([4, 3, 2, 1, 0, 6, 5])  # the last one does not count
    one, two = ([part.tolist() for part in shortlist(owned, inside, order, n)] for n in (1, 2))
    assert one == [[3, 4], [6]]
    assert two == [[0, 2, 3, 4], [5, 6]]
