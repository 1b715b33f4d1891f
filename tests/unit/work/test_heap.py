"""What exists before a run is spared by the garbage collector, and is as before after it."""

from __future__ import annotations

import gc

from eigsearch.work.heap import settled


def test_objects_are_frozen_for_as_long_as_the_context_lasts() -> None:
    assert gc.get_freeze_count() == 0
    with settled():
        assert gc.get_freeze_count() > 0
    assert gc.get_freeze_count() == 0


def test_what_somebody_else_froze_stays_frozen() -> None:
    gc.freeze()
    frozen = gc.get_freeze_count()
    try:
        with settled():
            assert gc.get_freeze_count() == frozen
        assert gc.get_freeze_count() == frozen
    finally:
        gc.unfreeze()
