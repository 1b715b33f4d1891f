"""Cache of a model's output for one whole graph, valid until the graph changes.

Without it, explaining one node after another of a large graph would call the model on the whole
graph each time. The cache is not trusted on its own: rows of computation graphs, recomputed each
time, are compared with it, and if they differ the model is called on the whole graph again.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import ref

from torch import Tensor
from torch_geometric.data import Data

_MOST = 1 << 24  # entries of the largest output that is cached
_PLAIN = (bool, int, float, str, type(None))


class WholeOutput:
    """Caches the output for the graph that was evaluated last; threads may share it."""

    def __init__(self) -> None:
        self._kept: _Kept | None = None  # read and replaced as a whole, so it needs no lock

    def recall(self, data: Data) -> Tensor | None:
        """Return the output for a graph; None if not cached or if the graph changed."""
        kept = self._kept
        if kept is None or kept.key != _graph_key(data):
            return None
        return kept.output if all(each() is not None for each in kept.alive) else None

    def keep(self, data: Data, output: Tensor) -> None:
        """Cache the output for a graph in place of the previous one."""
        key = _graph_key(data)
        if key is None or output.numel() > _MOST:
            self.forget()
            return
        tensors = [value for _, value in data.items() if isinstance(value, Tensor)]
        self._kept = _Kept(output, key, [ref(data), *map(ref, tensors)])

    def forget(self) -> None:
        """Drop the cached output."""
        self._kept = None


class _Kept(NamedTuple):
    """An output, its graph's key, and weak references to the objects in that key."""

    output: Tensor
    key: tuple[Any, ...]
    alive: list[ref[Any]]


def _graph_key(data: Data) -> tuple[Any, ...] | None:
    """Return a key that changes whenever the graph does; None if there is no such key.

    The graph and its tensors are identified by `id`, which is unique as long as they are alive, and
    writes to tensors by their version counters.
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
