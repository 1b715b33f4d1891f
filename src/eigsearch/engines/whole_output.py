"""The output of a model for one whole graph, remembered as long as the graph is the same.

Explaining one node after another of a large graph would call the model on all of it each time.
Nothing here is trusted on its own: rows of computation graphs, computed anew each time, are held
against it, and where they differ the model is called on the whole graph again.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import ref

from torch import Tensor
from torch_geometric.data import Data

_MOST = 1 << 24  # numbers in an output that is kept
_PLAIN = (bool, int, float, str, type(None))


class WholeOutput:
    """Keeps the output for the graph that was evaluated last, for any number of threads."""

    def __init__(self) -> None:
        self._kept: _Kept | None = None  # read and written at once

    def recall(self, data: Data) -> Tensor | None:
        """Return the output for a graph; None where it is not known, or the graph has changed."""
        kept = self._kept
        if kept is None or kept.looks != _looks(data):
            return None
        return kept.output if all(each() is not None for each in kept.alive) else None

    def keep(self, data: Data, output: Tensor) -> None:
        """Remember the output for a graph instead of that for another one."""
        looks = _looks(data)
        if looks is None or output.numel() > _MOST:
            self.forget()
            return
        tensors = [value for _, value in data.items() if isinstance(value, Tensor)]
        self._kept = _Kept(output, looks, [ref(data), *map(ref, tensors)])

    def forget(self) -> None:
        """Forget the output."""
        self._kept = None


class _Kept(NamedTuple):
    """An output, what its graph looked like, and what has to be alive for that to mean anything."""

    output: Tensor
    looks: tuple[Any, ...]
    alive: list[ref[Any]]


def _looks(data: Data) -> tuple[Any, ...] | None:
    """Return what tells whether a graph was changed; None where that cannot be told.

    The graph and its tensors are known by where they are in memory, which holds as long as they
    are alive, and tensors by how often they were written to.
    """
    found: list[Any] = [id(data)]
    for name, value in data.items():
        if type(value) is Tensor and not value.is_inference():
            found += (name, id(value), value._version)
        elif isinstance(value, _PLAIN):
            found += (name, value)
        else:
            return None
    return tuple(found)
