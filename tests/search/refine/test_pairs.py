from __future__ import annotations

import numpy as np

from eigsearch.search.refine.pairs import all_pairs, most_common_partner


def test_all_pairs_of_four_lists_each_once_in_order() -> None:
    left, right = all_pairs(4)
    assert list(zip(left, right, strict=True)) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


def test_most_common_partner_counts_the_first_pairs_and_takes_partners_of_all() -> None:
    left, right = np.array([5, 0, 2, 2, 2, 7]), np.array([7, 5, 5, 3, 4, 2])
    common, partners = most_common_partner(left, right, 3)
    assert common == 5  # in all of the first three, though 2 is in more pairs altogether
    assert partners.tolist() == [7, 0, 2]
    assert most_common_partner(left, right, 2)[1].tolist() == [7, 0]


def test_most_common_partner_on_a_tie_takes_the_lowest_number() -> None:
    common, partners = most_common_partner(np.array([3, 1]), np.array([4, 2]), 2)
    assert (common, partners.tolist()) == (1, [2])


def test_most_common_partner_without_pairs_is_empty() -> None:
    nothing = np.zeros(0, np.int64)
    assert most_common_partner(nothing, nothing, 6)[1].tolist() == []
    assert most_common_partner(np.array([1]), np.array([2]), 0)[1].tolist() == []
