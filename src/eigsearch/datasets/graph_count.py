"""Count the graphs of a file of `torch.save` without reading their tensors."""

from __future__ import annotations

import gc
import io
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

_GRAPH = ("torch_geometric.data.data", "Data")
_PACKAGES = ("torch", "torch_geometric", "collections")


class _Blank:
    """Stands for any object of the file, and holds nothing."""

    def __new__(cls, *_: Any) -> _Blank:
        return object.__new__(cls)

    def __init__(self, *_: Any) -> None: ...

    def __setstate__(self, state: Any) -> None: ...

    def __setitem__(self, key: Any, value: Any) -> None: ...


class _Graph(_Blank):
    """Stands for a graph."""


class _Outline(pickle.Unpickler):
    """Builds lists of blanks: nothing that the file names is imported or called."""

    def find_class(self, module: str, name: str) -> type[_Blank]:
        if module.partition(".")[0] not in _PACKAGES:
            raise pickle.UnpicklingError(module)
        return _Graph if (module, name) == _GRAPH else _Blank

    def persistent_load(self, pid: Any) -> None:
        """Leave the numbers of tensors where they are."""


def count_graphs(path: Path) -> int | None:
    """Return how many graphs a file lists; None if only reading it all can tell."""
    try:
        outline = torch._C.PyTorchFileReader(str(path)).get_record("data.pkl")
        with _without_collection():
            content = _Outline(io.BytesIO(outline)).load()
    except Exception:  # whatever a broken file leads to: who reads it says what is wrong
        return None
    listed = isinstance(content, list) and all(type(entry) is _Graph for entry in content)
    return len(content) or None if listed else None


@contextmanager
def _without_collection() -> Iterator[None]:
    """Pause the garbage collector, which takes longer than the reading of many small objects."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
