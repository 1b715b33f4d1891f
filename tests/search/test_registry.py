from __future__ import annotations

import pytest

from eigsearch.errors import InputError
from eigsearch.search import FixedSize, Refine, Sweep
from eigsearch.search.registry import SEARCHES, make_search


@pytest.mark.parametrize("name", SEARCHES)
def test_make_search_name_returns_the_search_of_that_name(name: str) -> None:
    assert make_search(name).name == name


def test_make_search_object_is_returned_as_it_is() -> None:
    search = Refine(rounds=7)
    assert make_search(search) is search


@pytest.mark.parametrize("search", [None, "fixed"])
def test_make_search_fixed_takes_the_size(search: str | None) -> None:
    assert make_search(search, 3) == FixedSize(3)
    assert make_search(search) == FixedSize(None)


@pytest.mark.parametrize("search", ["sweep", Sweep()])
def test_make_search_size_with_another_search_raises(search: str | Sweep) -> None:
    with pytest.raises(InputError, match="`size` to come with search='fixed'"):
        make_search(search, 3)


def test_make_search_unknown_name_raises_with_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"one of sweep, resweep, .* \(got 'resweeep'\)"):
        make_search("resweeep")
