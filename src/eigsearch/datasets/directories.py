"""Where data sets are looked for, and where the copies that PyG needs are kept."""

import os
from pathlib import Path

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
    """Return the per-user directory for downloads; XDG_CACHE_HOME moves it."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "eigsearch"
