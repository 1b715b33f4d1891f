"""Where results are to go, checked before any work is done for them."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from eigsearch.errors import InputError


def check_directory(path: Path) -> None:
    """Refuse a directory that cannot be made or written into; leave nothing behind."""
    nearest = next(each for each in (path, *path.absolute().parents) if os.path.lexists(each))
    if not nearest.is_dir():
        raise InputError(
            f"Expected the output to be a directory (got the file {nearest}). Choose another name."
        )
    try:
        tempfile.TemporaryDirectory(dir=nearest).cleanup()
    except OSError as error:
        raise InputError(unusable(path, error)) from error


def unusable(path: object, error: OSError) -> str:
    """Return the sentence for a file that the system does not let us use."""
    return (
        f"Expected {path} to be a path that can be read or written (got: "
        f"{error.strerror or error}). Choose another one, or mend the cause."
    )
