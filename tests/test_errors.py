"""Errors travel between processes as they are."""

from __future__ import annotations

import pickle

import pytest

from eigsearch.errors import EigsearchError, InputError, MissingExtraError, ModelError


@pytest.mark.parametrize(
    "error",
    [
        InputError("Expected this (got that). Do so."),
        ModelError("Expected this (got that). Do so."),
        MissingExtraError("rdkit", "chem", "read SMILES"),
    ],
)
def test_an_error_comes_back_from_another_process(error: EigsearchError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
