"""Show the progress of a run on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bar

from eigsearch.parallel import Progress


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[Progress], None]]:
    """Show rows done, rate, time left and failures; nothing when piped."""
    stream = Console(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]:.0f}/s"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[failures]}"),
    )
    bar = Bar(*columns, console=stream, transient=True, disable=not stream.is_terminal)
    task = bar.add_task(title, total=None, rate=0.0, failures="")

    def show(now: Progress) -> None:
        bar.start()  # not before the first row, so that status lines of training stay intact
        failures = f"{now.failures} failed" if now.failures else ""
        bar.update(task, completed=now.done, total=now.total, rate=now.rate, failures=failures)

    try:
        yield show
    finally:
        bar.stop()


@contextmanager
def status_line(text: str) -> Iterator[None]:
    """Show what is being done while it lasts; nothing when piped."""
    stream = Console(stderr=True)
    if not stream.is_terminal:
        yield
        return
    with stream.status(text):
        yield
