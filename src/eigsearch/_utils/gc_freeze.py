"""The heap of a run: what exists before it is not garbage, and need not be looked at."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def gc_frozen() -> Iterator[None]:
    """Keep the garbage collector from what exists already, as long as the context lasts.

    Torch and PyG hold a million objects that stay. A run makes many small ones, after which Python
    looks at all of them again and again.
    """
    if gc.get_freeze_count():  # somebody takes care of this already
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
