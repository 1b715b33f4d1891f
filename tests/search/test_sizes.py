"""Sizes are counted exactly, whoever's numbers they come from."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eigsearch
from eigsearch.errors import InputError
from eigsearch.search import FixedSize
from eigsearch.search.sizes import size_range
from tests.nets import house, make_net


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_check_sparsity_number_of_numpy_is_the_share_that_it_is_printed_as(kind: Any) -> None:
    assert size_range(10, kind(0.7)) == size_range(10, 0.7) == (2, 3)


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint32])
def test_sizes_of_numpy_are_sizes(kind: Any) -> None:
    smallest, largest = size_range(10, 0.5, min_size=kind(3))
    assert (smallest, largest) == (3, 5)
    assert type(smallest) is type(largest) is int
    assert FixedSize(kind(3)).size == 3


@pytest.mark.parametrize(
    ("options", "plain"),
    [
        ({"sparsity": np.float32(0.7)}, {"sparsity": 0.7}),
        ({"min_size": np.int64(3)}, {"min_size": 3}),
        ({"search": None, "size": np.int64(3)}, {"search": None, "size": 3}),
    ],
)
def test_options_of_numpy_explain_as_plain_ones(
    options: dict[str, Any], plain: dict[str, Any], tmp_path: Path
) -> None:
    given = eigsearch.explain(make_net(), house(), **options)
    expected = eigsearch.explain(make_net(), house(), **plain)
    assert given.edge_mask.tolist() == expected.edge_mask.tolist()
    assert given.curve.size.tolist() == expected.curve.size.tolist()
    given.save(tmp_path / "explanation.json")


@pytest.mark.parametrize("groups", [3, 7, 19, 30, 101])
@pytest.mark.parametrize("sparsity", [0.0, 0.29, 0.5, 0.7, 0.9])
def test_size_range_keeps_the_promised_sparsity(groups: int, sparsity: float) -> None:
    _, largest = size_range(groups, sparsity)
    assert largest == 2 or Fraction(groups - largest, groups) >= Fraction(str(sparsity))
    promised = Fraction(groups - largest - 1, groups) < Fraction(str(sparsity))
    assert promised or largest == groups - 1


def test_size_range_max_size_limits_beside_sparsity() -> None:
    assert size_range(100, 0.5, max_size=20) == (2, 20)
    assert size_range(10, 0.5, max_size=20) == (2, 5)
    assert size_range(10, 0.5, min_size=4, max_size=4) == (4, 4)


@pytest.mark.parametrize("max_size", [0, 1.5, True])
def test_size_range_max_size_no_count_raises(max_size: Any) -> None:
    with pytest.raises(InputError, match="max_size"):
        size_range(10, 0.5, max_size=max_size)


def test_size_range_max_size_below_min_size_raises() -> None:
    with pytest.raises(InputError, match="at least `min_size`, 3"):
        size_range(10, 0.5, min_size=3, max_size=2)


@pytest.mark.parametrize("sparsity", [-0.1, 1, 1.5, True, "0.5", float("nan")])
def test_size_range_sparsity_not_a_share_below_one_raises(sparsity: Any) -> None:
    with pytest.raises(InputError, match="at least 0 and below 1"):
        size_range(10, sparsity)
