"""The command line: parse, call the library, print."""

import signal
from types import FrameType
from typing import NoReturn

_STOPPING = ("SIGTERM", "SIGHUP")  # Windows has only the first


def main() -> None:
    """Run the command `eigsearch`."""
    from eigsearch.cli.app import app

    for number in (getattr(signal, name) for name in _STOPPING if hasattr(signal, name)):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as `nohup` has it
            signal.signal(number, _terminate)
    app()


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    """End the process as Ctrl-C does: workers stop, and temporary directories are removed."""
    raise SystemExit(128 + number)
