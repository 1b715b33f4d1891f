from __future__ import annotations

from typing import Any

import pytest

from eigsearch.errors import InputError, ModelError
from eigsearch.explanation.failure import FailedExplanation


@pytest.mark.parametrize(
    ("about", "name"), [({}, "graph 4"), ({"node": 7}, "node 7"), ({"link": (1, 2)}, "link 1–2")]
)
def test_to_error_names_what_was_to_be_explained(about: dict[str, Any], name: str) -> None:
    error = FailedExplanation(4, "Expected x (got y). Do z.", error=InputError, **about).to_error()
    assert type(error) is InputError
    assert str(error) == f"Expected x (got y). Do z. That was {name} of the data set."


def test_to_error_of_a_model_that_failed_is_a_sentence() -> None:
    error = FailedExplanation(4, "RuntimeError: no", error=InputError).to_error()
    assert type(error) is ModelError
    assert str(error).startswith("Expected the model to take graph 4 of the data set (got Runtime")
