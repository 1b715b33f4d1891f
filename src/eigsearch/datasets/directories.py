"""The data root that the user names, and the per-user cache of downloads."""

import os
from pathlib import Path

from platformdirs import user_cache_path

from eigsearch.errors import InputError


def data_root(root: str | Path | None) -> Path | None:
    """Return the directory that the user named: `root`, else EIGSEARCH_DATA, else None."""
    named = root or os.environ.get("EIGSEARCH_DATA")
    if not named:
        return None
    path = Path(named).expanduser()
    if not path.is_dir():
        raise InputError(
            f"Expected the data root to be a directory (got {path}). "
            "Create it, or leave it out to use the download cache."
        )
    return path


def cache_dir() -> Path:
    """Return the per-user directory for downloads; on Linux, XDG_CACHE_HOME moves it."""
    return user_cache_path("eigsearch", appauthor=False)
