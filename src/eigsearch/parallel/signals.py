"""Keep Ctrl-C and SIGTERM from interrupting, or being taken over by, what starts processes."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_STOPPING = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def delayed_signals() -> Iterator[None]:
    """Handle Ctrl-C and SIGTERM after the context, not within.

    Python handles signals in the main thread alone, so there is nothing to delay in others.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []
    before = {number: signal.getsignal(number) for number in _STOPPING}
    ours = {number: handler for number, handler in before.items() if callable(handler)}
    for number in ours:
        signal.signal(number, lambda signum, _: received.append(signum))
    try:
        yield
    finally:
        for number, handler in ours.items():
            signal.signal(number, handler)
        for received_number in received:
            signal.raise_signal(received_number)


@contextmanager
def blocked_interrupt() -> Iterator[None]:
    """Block Ctrl-C in what is started within, which inherits the mask of this thread.

    A terminal sends it to every process of a command; a fork server that still imports would
    print a traceback.
    """
    if not hasattr(signal, "pthread_sigmask"):  # as on Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def kept_sigterm_handler() -> Iterator[None]:
    """Put the program's own handler of SIGTERM back in place after the context.

    Ray replaces it by one that aborts the process, which then cannot clean up.
    """
    handler = signal.getsignal(signal.SIGTERM)
    is_main = threading.current_thread() is threading.main_thread()
    try:
        yield
    finally:
        if is_main and callable(handler):
            signal.signal(signal.SIGTERM, handler)
