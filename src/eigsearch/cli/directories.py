"""Check output directories before any work is done."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from eigsearch.errors import InputError


def check_directory(path: Path) -> None:
    """Raise InputError if a directory cannot be created or written; leave no trace."""
    candidates = (path, *path.absolute().parents)
    nearest = next(directory for directory in candidates if os.path.lexists(directory))
    if not nearest.is_dir():
        raise InputError(
            f"Expected the output to be a directory (got the file {nearest}). Choose another name."
        )
    try:
        tempfile.TemporaryDirectory(dir=nearest).cleanup()
    except OSError as error:
        raise InputError(unusable_path(path, error)) from error


def unusable_path(path: object, error: OSError) -> str:
    """Return the error message for a path that cannot be read or written."""
    return (
        f"Expected {path} to be a path that can be read or written (got: "
        f"{error.strerror or error}). Choose another one, or mend the cause."
    )
