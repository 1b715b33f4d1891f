"""Families: the same rows whether asked for one by one or all at once."""

from __future__ import annotations

import pytest
import torch

from eigsearch.candidates import (
    Complements,
    Family,
    Induce,
    LeaveOneOut,
    Prefixes,
    Rows,
    Toggles,
    Whole,
)

ORDER = torch.tensor([2, 0, 3, 1])
FAMILIES: dict[str, tuple[Family, list[list[int]]]] = {
    "whole": (Whole(3), [[1, 1, 1]]),
    "leave one out": (LeaveOneOut(3), [[0, 1, 1], [1, 0, 1], [1, 1, 0]]),
    "prefixes": (Prefixes(ORDER, [1, 3]), [[0, 0, 1, 0], [1, 0, 1, 1]]),
    "complements": (Complements(ORDER, [1, 3]), [[1, 1, 0, 1], [0, 1, 0, 0]]),
    "toggles": (
        Toggles(torch.tensor([True, False, True]), [1, 2]),
        [[1, 1, 1], [1, 0, 0]],
    ),
    "rows": (Rows(torch.eye(2, dtype=torch.bool)), [[1, 0], [0, 1]]),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_rows(name: str) -> None:
    family, expected = FAMILIES[name]
    assert len(family) == len(expected)
    assert family.rows(0, len(family)).int().tolist() == expected
    for number, row in enumerate(expected):
        one = family.rows(number, number + 1)
        assert one.dtype == torch.bool
        assert one.int().tolist() == [row]


def test_ranking_keeps_nodes_and_search_drops_them() -> None:
    assert LeaveOneOut(3).induce is Induce.SPANNING
    assert Prefixes(ORDER, [1]).induce is Complements(ORDER, [1]).induce is Induce.EDGES


def test_a_family_of_many_candidates_is_small() -> None:
    """A graph with 100,000 groups has candidates × groups = 10^10 entries, and none of them yet."""
    family = Prefixes(torch.arange(100_000), range(1, 100_000))
    assert family.rows(99_990, 99_992).sum(dim=1).tolist() == [99_991, 99_992]
