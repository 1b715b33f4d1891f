import os
from pathlib import Path

import pytest


@pytest.fixture
def data_root() -> Path:
    """The directory with raw and published files; a test that needs it is skipped without one."""
    root = os.environ.get("EIGSEARCH_DATA")
    if not root or not Path(root).is_dir():
        pytest.skip("needs raw files: set EIGSEARCH_DATA to a directory that has them")
    return Path(root)


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    """Keep the tests out of the user's cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))
