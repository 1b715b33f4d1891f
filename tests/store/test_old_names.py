"""Modules of the store under the names that they had in the first release."""

from __future__ import annotations

import importlib

from eigsearch import store


def test_import_store_read_gives_the_reader_and_leaves_the_function() -> None:
    """A submodule of that name would take the place of `store.read`."""
    old = importlib.import_module("eigsearch.store.read")
    assert (old.read, old.rows) == (store.read, store.rows)
    assert callable(store.read)
