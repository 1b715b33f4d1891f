"""The command line: parse, call the library, print."""

import signal
from types import FrameType
from typing import NoReturn

_TERMINATED = 128 + signal.SIGTERM


def main() -> None:
    """Run the command `eigsearch`."""
    from eigsearch.cli.app import app

    signal.signal(signal.SIGTERM, _terminate)
    app()


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    """End the process as Ctrl-C does: workers stop, and temporary directories are removed."""
    raise SystemExit(_TERMINATED)
