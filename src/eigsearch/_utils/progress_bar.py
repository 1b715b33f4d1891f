"""Show the progress of a loop in terminals and notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from tqdm.auto import tqdm

T = TypeVar("T")
_DELAY = 1.0  # seconds before a bar appears: a loop that is shorter needs none


def with_progress(items: Iterable[T], total: int | None, progress: bool | None) -> Iterator[T]:
    """Yield items under a bar; `progress=None` shows it in terminals and notebooks only."""
    disable = None if progress is None else not progress
    bar = tqdm(items, total=total, disable=disable, delay=_DELAY, leave=False)
    return iter(bar)
