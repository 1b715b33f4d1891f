"""Memory: what a computation takes, so that a budget in bytes becomes a number of rows."""

from __future__ import annotations

import tracemalloc
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

from torch import Tensor, UntypedStorage
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

Result = TypeVar("Result")

PROBE = 256  # rows, or nodes, of the batch that tells what each of them takes
# Allocators round up and keep what was freed for a while; measured in benchmarks/speed/memory.py.
_SLACK = 1.25


class _Meter(TorchDispatchMode):
    """Watches the tensors that operations make, and when they are let go."""

    def __init__(self) -> None:
        super().__init__()
        self.peak = 0
        self._held = 0
        self._known: set[int] = set()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        made = func(*args, **kwargs)
        given = {_storage(tensor).data_ptr() for tensor in _tensors((args, kwargs))}
        for tensor in _tensors(made):
            if _storage(tensor).data_ptr() not in given | self._known:
                self._watch(tensor)
        return made

    def _watch(self, tensor: Tensor) -> None:
        place, size = _storage(tensor).data_ptr(), _storage(tensor).nbytes()
        self._known.add(place)
        self._held += size
        self.peak = max(self.peak, self._held)
        weakref.finalize(tensor, self._release, place, size)

    def _release(self, place: int, size: int) -> None:
        self._known.discard(place)
        self._held -= size


def _tensors(values: Any) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(values) if isinstance(leaf, Tensor)]


def _storage(tensor: Tensor) -> UntypedStorage:
    return tensor.untyped_storage()


def measure_peak_bytes(compute: Callable[[], Result]) -> tuple[Result, int]:
    """Return what a computation gives, and the bytes that it held at most, in tensors and arrays.

    It takes several times as long as the computation alone: for a first, small batch.
    """
    traced = tracemalloc.is_tracing()
    if not traced:
        tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    try:
        with _Meter() as meter:
            result = compute()
        arrays = tracemalloc.get_traced_memory()[1] - before
    finally:
        if not traced:
            tracemalloc.stop()
    return result, int(_SLACK * (meter.peak + max(arrays, 0)))


def rows_within(max_memory: int, rows: int, taken: int) -> int:
    """Return how many rows fit into a budget in bytes, given what some of them took."""
    return max(1, max_memory * rows // max(taken, 1))
