"""Files that are either there and whole, or not there at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from eigsearch.errors import InputError

_ASIDE = ".tmp"
_FULL = (errno.ENOSPC, errno.EDQUOT)


def write_atomic(path: Path, content: bytes) -> None:
    """Write a file so that no crash, not even of the machine, leaves a part of it."""
    with atomic_path(path) as aside:
        aside.write_bytes(content)


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Give a hidden path to write to; what is there in the end replaces the file, or nothing does.

    The bytes reach the disk before they take the name, in one step. A crash of the machine may lose
    the name again, until `sync_directory`.
    """
    path = path.resolve()  # a link stays a link
    if path.exists() and not path.is_file():  # a device or a pipe is written to, not replaced
        yield path
        return
    aside = path.with_name(f".{path.name}.{os.getpid()}{_ASIDE}")
    try:
        yield aside
        with aside.open("rb+") as stream:
            os.fsync(stream.fileno())
        os.replace(aside, path)
    except OSError as error:
        if error.errno in _FULL:
            raise InputError(
                f"Expected room for {path} on its disk (got: {error.strerror}). Free some and "
                "repeat the command: what is there is kept, and a run goes on where it stopped."
            ) from error
        raise
    finally:
        aside.unlink(missing_ok=True)


def remove_leftovers(directory: Path) -> None:
    """Remove what a killed process left of files that it had not finished."""
    for leftover in directory.glob(f".*{_ASIDE}"):
        leftover.unlink(missing_ok=True)


def inside(directory: Path, name: str) -> Path:
    """Return the path of a file in a directory; refuse a name that leads out of it.

    >>> inside(Path("results"), "report.html").name
    'report.html'
    """
    path = directory / name
    if not path.resolve().is_relative_to(directory.resolve()):
        raise InputError(
            f"Expected {name!r} to stay inside the output directory {directory} "
            f"(got {path.resolve()}). Pass a plain file name."
        )
    return path


def sync_directory(directory: Path) -> None:
    """Make names last: on POSIX it is the directory that remembers them."""
    if os.name == "posix":
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
