"""A limit on how long a test may wait, for whatever it waits."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import pytest


@contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Fail what takes longer within; on systems without SIGALRM, as Windows, there is no limit."""
    is_main = threading.current_thread() is threading.main_thread()
    if not hasattr(signal, "SIGALRM") or not is_main:
        yield
        return

    def fail(number: int, frame: FrameType | None) -> None:
        pytest.fail(f"Expected the test to end within {seconds} seconds.")

    before = signal.signal(signal.SIGALRM, fail)
    left = signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(left)
        signal.signal(signal.SIGALRM, before)
