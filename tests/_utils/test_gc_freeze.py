"""What exists before a run is spared by the garbage collector, and is as before after it."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from eigsearch._utils import gc_freeze
from eigsearch._utils.gc_freeze import gc_frozen


@pytest.fixture(autouse=True)
def thawed() -> Iterator[None]:
    """Nothing is frozen before a test, nor after it."""
    gc.unfreeze()
    yield
    gc.unfreeze()


def collected(thing: object) -> bool:
    """Whether the collector looks at `thing`.

    Counts of frozen objects would not do: one that nobody needs any more dies frozen, at any time.
    """
    return any(other is thing for other in gc.get_objects())


def test_objects_are_frozen_for_as_long_as_the_context_lasts() -> None:
    before: list[object] = [[]]
    with gc_frozen():
        during: list[object] = [[]]
        assert not collected(before)
        assert collected(during)
    assert collected(before)


def test_context_that_is_left_when_python_ends_needs_no_module(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A generator that is not used up is closed after globals of modules were set to None."""
    before: list[object] = [[]]
    with monkeypatch.context() as ending, gc_frozen():
        ending.setattr(gc_freeze, "gc", None)
    assert collected(before)


def test_what_somebody_else_froze_stays_frozen() -> None:
    before: list[object] = [[]]
    gc.freeze()
    with gc_frozen():
        assert not collected(before)
    assert not collected(before)
