"""Runs tests on a mutant, in a forked process that has torch but not eigsearch loaded."""

from __future__ import annotations

import compileall
import os
import resource
import shutil
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from py_compile import PycInvalidationMode

import torch

from benchmarks.mutation.mutants import Mutant

_CPU_SECONDS = 400  # no tests of a part take a third of it
_LIBRARIES = (  # loaded once: what the core and its tests import
    "hypothesis", "networkx", "numpy", "pyarrow", "pytest", "scipy.sparse.csgraph", "scipy.special",
    "sklearn.linear_model", "torch_geometric.explain", "torch_geometric.nn",
)  # fmt: skip
_WALL_SECONDS = 3600  # a test that sleeps for ever uses no CPU


class Runner:
    """Runs tests against a copy of the source, which may hold one mutant."""

    def __init__(self, root: Path, copy: Path) -> None:
        self.root, self.copy = root, copy

    @contextmanager
    def holding(self, mutant: Mutant) -> Iterator[None]:
        """Have the mutant in the copy of the source while the context lasts."""
        file = self.copy / mutant.path
        sound = file.read_bytes()
        file.write_bytes(mutant.apply(sound))
        try:
            yield
        finally:
            file.write_bytes(sound)

    def outcome(self, tests: Sequence[str]) -> str:
        """Return "passed", "failed" or "endless" for tests in a process of their own."""
        process = os.fork()
        if process == 0:
            self._run(tests)
        deadline = time.monotonic() + _WALL_SECONDS
        while time.monotonic() < deadline:
            done, status = os.waitpid(process, os.WNOHANG)
            if done:
                return self._named(status)
            time.sleep(0.05)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        return "endless"

    @staticmethod
    def _named(status: int) -> str:
        if os.WIFSIGNALED(status):
            return "endless" if os.WTERMSIG(status) == signal.SIGXCPU else "failed"
        return "passed" if os.WEXITSTATUS(status) == 0 else "failed"

    def _run(self, tests: Sequence[str]) -> None:
        """Run the tests here, and end the process."""
        resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS + 5))
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        log = os.open(self.copy / "tests.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.chdir(self.root)
        sys.path.insert(0, str(self.copy / "src"))
        import pytest

        options = ["-x", "-q", "-p", "no:cacheprovider", "--no-header"]
        code = pytest.main([*options, *tests])
        import eigsearch

        assert str(eigsearch.__file__).startswith(str(self.copy)), "the copy is not what was tested"
        os._exit(int(code))


def load_libraries() -> None:
    """Load what every process needs, before any is forked."""
    for name in _LIBRARIES:
        import_module(name)
    torch.set_num_threads(1)
    loaded = [name for name in sys.modules if name.split(".")[0] in ("eigsearch", "tests")]
    assert not loaded, "each process has to import its own eigsearch"


def copy_source(root: Path, folder: Path) -> None:
    """Copy the source, with byte code that is checked by the hash of its source.

    A mutant may be written within the second of the file that it replaces.
    """
    shutil.copytree(root / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    mode = PycInvalidationMode.CHECKED_HASH
    compileall.compile_dir(folder / "src", quiet=1, invalidation_mode=mode)
