"""Where work is done is checked before any of it is."""

from __future__ import annotations

from typing import Any

import pytest

from eigsearch.errors import InputError
from eigsearch.parallel.backend import check_workers


@pytest.mark.parametrize(
    ("name", "value"), [("workers", 0), ("workers", "two"), ("workers", 1.5), ("ray", 3)]
)
def test_check_workers_value_of_another_kind_raises(name: str, value: Any) -> None:
    with pytest.raises(InputError, match=rf"Expected `{name}` to be .* \(got {value!r}\)\. Pass"):
        check_workers(**{"workers": None, name: value})
