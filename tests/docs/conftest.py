"""Pages run in empty directories of their own, once each, with the sets as they are generated."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TypeGuard

import pytest

from tests.docs.snippets import ROOT, PageRun


@pytest.fixture(scope="module")
def follow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], PageRun]]:
    """Run a page of the repository from top to bottom, if it has not run yet."""

    @cache
    def _follow(page: str) -> tuple[PageRun, BaseException | None]:
        folder = tmp_path_factory.mktemp(Path(page).stem)
        with pytest.MonkeyPatch.context() as patch:
            patch.delenv("EIGSEARCH_DATA", raising=False)
            patch.setenv("XDG_CACHE_HOME", str(folder / ".cache"))
            patch.chdir(folder)
            patch.syspath_prepend(str(folder))
            known = set(sys.modules)
            run = PageRun(ROOT / page)
            try:
                return run.run(), None
            except Exception as error:
                return run, error.__cause__ if _is_missing(error.__cause__) else error
            finally:
                _forget_modules(known, folder)

    def follow(page: str) -> PageRun:
        run, error = _follow(page)
        if _is_missing(error):
            pytest.skip(f"needs {error.name}, which this version of Python cannot have")
        if error is not None:
            raise error
        return run

    yield follow
    _follow.cache_clear()


def _is_missing(error: BaseException | None) -> TypeGuard[ModuleNotFoundError]:
    """Return whether a package is not there that needs a newer Python than the oldest we serve."""
    return isinstance(error, ModuleNotFoundError) and error.name == "chemprop"


def _forget_modules(known: set[str], folder: Path) -> None:
    """Remove modules of a page's directory, so that another page may have one of the same name."""
    for name in set(sys.modules) - known:
        file = getattr(sys.modules[name], "__file__", None)
        if file and Path(file).is_relative_to(os.path.realpath(folder)):
            del sys.modules[name]
