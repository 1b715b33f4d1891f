"""Signals that come while processes are started."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from eigsearch.parallel.signals import blocked_interrupt, delayed_signals, kept_sigterm_handler

STOPPING = (signal.SIGINT, signal.SIGTERM)
MASK = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))"


@pytest.fixture
def received() -> Iterator[list[int]]:
    """The signals that the handlers of this process got."""
    got: list[int] = []
    before = {n: signal.signal(n, lambda signum, _: got.append(signum)) for n in STOPPING}
    yield got
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", STOPPING)
def test_delayed_signals_reach_their_handler_after_the_context(
    received: list[int], number: signal.Signals
) -> None:
    with delayed_signals():
        signal.raise_signal(number)
        assert received == []
    assert received == [number]
    signal.raise_signal(number)
    assert received == [number, number]


def test_delayed_signals_come_after_an_error_too(received: list[int]) -> None:
    @delayed_signals()
    def fail() -> None:
        signal.raise_signal(signal.SIGINT)
        raise ValueError("not started")

    with pytest.raises(ValueError, match="not started"):
        fail()
    assert received == [signal.SIGINT]


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C raises here, also where a shell started this process with the signal ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_delayed_interrupt_raises_after_what_it_would_have_cut(interruptible: None) -> None:
    done = []

    def start() -> None:
        with delayed_signals():
            signal.raise_signal(signal.SIGINT)
            done.append("started")

    with pytest.raises(KeyboardInterrupt):
        start()
    assert done == ["started"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no masks of signals")
def test_blocked_interrupt_is_blocked_in_processes_started_within_alone() -> None:
    def is_blocked() -> str:
        return subprocess.run(
            [sys.executable, "-c", MASK], capture_output=True, text=True, check=True, timeout=600
        ).stdout.strip()

    with blocked_interrupt():
        assert is_blocked() == "True"
    assert is_blocked() == "False"


def test_kept_sigterm_handler_comes_back_after_another_took_its_place(received: list[int]) -> None:
    with kept_sigterm_handler():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.raise_signal(signal.SIGTERM)
    assert received == [signal.SIGTERM]
