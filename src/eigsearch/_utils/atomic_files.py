"""Write files atomically: a file is there and complete, or as it was before."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from eigsearch.errors import InputError

_SUFFIX = ".tmp"
_LOCK = ".lock"
_FULL = (errno.ENOSPC, errno.EDQUOT)


def write_atomic(path: Path, content: bytes, *, follow_links: bool = True) -> None:
    """Write a file so that no crash, not even of the machine, leaves a part of it."""
    with atomic_path(path, follow_links=follow_links) as temporary:
        temporary.write_bytes(content)


@contextmanager
def atomic_path(path: Path, *, follow_links: bool = True) -> Iterator[Path]:
    """Yield a hidden path to write to, which replaces the file when the context ends.

    The bytes reach the disk before they take the name, in one step. A crash of the machine may
    lose the name again, until `sync_directory`. Every call has a temporary file of its own, so
    that threads and processes that write the same file do not mix their bytes.

    Args:
        path: The file to write.
        follow_links: Write the file that a link points to; otherwise replace the link.
    """
    if follow_links:
        path = path.resolve()
        if path.exists() and not path.is_file():  # a device or a pipe is written to, not replaced
            yield path
            return
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(6)}{_SUFFIX}")
    try:
        temporary.open("xb").close()
        yield temporary
        with temporary.open("rb+") as stream:
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    except OSError as error:
        if error.errno in _FULL:
            raise InputError(
                f"Expected room for {path} on its disk (got: {error.strerror}). Free some and "
                "repeat the command: what is there is kept, and a run goes on where it stopped."
            ) from error
        nameless = str(error.filename or temporary) == str(temporary)  # nobody chose that name
        if nameless and error.errno is not None:  # else the text is all that the error shows
            error.filename, error.filename2 = str(path), None
        raise
    finally:
        temporary.unlink(missing_ok=True)


def remove_leftovers(directory: Path) -> None:
    """Remove temporary files of killed processes; call it only while `locked`."""
    for leftover in directory.glob(f".*{_SUFFIX}"):
        leftover.unlink(missing_ok=True)


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Lock a directory for one writer; raise InputError if another one holds the lock.

    The system releases the lock however the process ends.
    """
    path = directory / _LOCK
    if path.is_symlink() or (path.exists() and not path.is_file()):  # opening it would write there
        raise InputError(
            f"Expected {path} to be a file (got a link or something else). Remove it and repeat "
            "the command."
        )
    try:
        lock = FileLock(path, blocking=False, thread_local=False)
        lock.acquire()
    except Timeout as error:
        raise InputError(
            f"Expected {directory} to be written by one run at a time (got a second). "
            "Wait for the other one to end."
        ) from error
    try:
        yield
    finally:
        lock.release()


def path_inside(directory: Path, name: str) -> Path:
    """Return the path of a file in a directory; raise InputError if it leads out of it.

    >>> path_inside(Path("results"), "report.html").name
    'report.html'
    """
    path = directory / name
    if not path.resolve().is_relative_to(directory.resolve()):
        raise InputError(
            f"Expected {name!r} to stay inside the output directory {directory} "
            f"(got {path.resolve()}). Pass a file name without directories."
        )
    return path


def sync_directory(directory: Path) -> None:
    """Flush the names in a directory to the disk, which POSIX keeps apart from the files."""
    if os.name == "posix":
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
