from __future__ import annotations

import pytest

from eigsearch.errors import InputError
from eigsearch.search import Anchored, Refine


@pytest.mark.parametrize("name", ["rounds", "parsimony", "tolerance", "pairs", "anchor"])
def test_refine_negative_option_raises(name: str) -> None:
    with pytest.raises(InputError, match=f"`{name}` to be at least 0"):
        Refine(**{name: -1})
    assert vars(Refine(**{name: 0}))[name] == 0


def test_anchored_default_differs_from_refine_in_the_anchor_alone() -> None:
    assert Refine().anchor == 0
    assert vars(Anchored()) == {**vars(Refine()), "anchor": 0.5}
    assert (Refine.name, Anchored.name) == ("refine", "anchored")
