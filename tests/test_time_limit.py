"""A test that waits for ever fails in the end, and its neighbours run."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading

import pytest

from tests.time_limit import time_limit

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="This system has no alarm.")


def test_time_limit_wait_without_end_fails() -> None:
    with pytest.raises(pytest.fail.Exception, match="within 1 seconds"), time_limit(1):
        threading.Event().wait()


def test_time_limit_process_without_end_fails() -> None:
    endless = [sys.executable, "-c", "import time\nwhile True: time.sleep(1)"]
    with pytest.raises(pytest.fail.Exception, match="within 1 seconds"), time_limit(1):
        subprocess.run(endless)


def test_time_limit_of_what_ended_is_over() -> None:
    handler, left = signal.getsignal(signal.SIGALRM), signal.alarm(0)
    signal.alarm(left)
    with time_limit(1):
        pass
    assert signal.getsignal(signal.SIGALRM) is handler
    again = signal.alarm(left)
    assert 0 < again <= left  # that of the test around it
