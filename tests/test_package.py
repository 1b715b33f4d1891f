"""The package offers its names at once, and imports what is behind them when it is needed."""

from __future__ import annotations

import pickle
import pkgutil
import subprocess
import sys

import pytest

import eigsearch


def in_a_new_process(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_names_are_there_before_torch_is() -> None:
    code = "import sys, eigsearch; print(*dir(eigsearch), 'torch' in sys.modules)"
    *names, torch = in_a_new_process(code).split()
    assert set(eigsearch.__all__) < set(names)
    assert torch == "False"


def test_a_module_needs_no_import_of_its_own() -> None:
    code = "import eigsearch; print(eigsearch.errors.InputError, eigsearch.metrics.auc.__name__)"
    assert in_a_new_process(code) == "<class 'eigsearch.errors.InputError'> auc"


def test_no_module_takes_a_name_away() -> None:
    modules = {module.name for module in pkgutil.iter_modules(eigsearch.__path__)}
    assert not modules & set(eigsearch.__all__)  # an import of it would rebind the name


@pytest.mark.parametrize("name", eigsearch.__all__)
def test_a_name_travels_to_other_processes(name: str) -> None:
    assert pickle.loads(pickle.dumps(getattr(eigsearch, name))) is getattr(eigsearch, name)


def test_a_name_that_there_is_not() -> None:
    with pytest.raises(AttributeError, match="'eigsearch' has no attribute 'explane'"):
        _ = eigsearch.explane  # type: ignore[attr-defined]
    assert not hasattr(eigsearch, "__nothing__")


@pytest.mark.parametrize("name", ["explain", "pipeline"])
def test_what_a_module_lacks_is_told(name: str) -> None:
    without = "import sys; sys.modules['torch'] = None; import eigsearch\n"
    code = f"{without}try: eigsearch.{name}\nexcept ModuleNotFoundError as error: print(error.name)"
    assert in_a_new_process(code) == "torch"
