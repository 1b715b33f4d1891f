"""Memory: what a computation takes, so that a budget in bytes becomes a number of rows."""

from __future__ import annotations

import tracemalloc
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from eigsearch.errors import MemoryBudgetError

Result = TypeVar("Result")
Kind = tuple[str, ...]  # the engine, and the attributes of the graphs

PROBE = 1_024  # rows, or nodes, of the batch that tells what each of them takes
# Allocators round up and keep what was freed for a while; measured in benchmarks/speed/memory.py.
_SLACK = 1.25
_LARGER = 8  # times the nodes of the graph that was weighed, beyond which rows are weighed again


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
        given = {_storage(tensor)[0] for tensor in _tensors((args, kwargs))}
        for tensor in _tensors(made):
            place, size = _storage(tensor)
            if place not in given | self._known:
                self._watch(tensor, place, size)
        return made

    def _watch(self, tensor: Tensor, place: int, size: int) -> None:
        self._known.add(place)
        self._held += size
        self.peak = max(self.peak, self._held)
        weakref.finalize(tensor, self._release, place, size)

    def _release(self, place: int, size: int) -> None:
        self._known.discard(place)
        self._held -= size


def _tensors(values: Any) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(values) if isinstance(leaf, Tensor)]


def _storage(tensor: Tensor) -> tuple[int, int]:
    """Return where the numbers of a tensor are, and the bytes that they take."""
    if tensor.layout is torch.strided:
        storage = tensor.untyped_storage()
        return storage.data_ptr(), storage.nbytes()
    values = tensor._values() if tensor.layout is torch.sparse_coo else tensor.values()
    # beside each number the indices of its place, of eight bytes each
    size = values.untyped_storage().nbytes() + 8 * tensor.dim() * values.size(0)
    return values.untyped_storage().data_ptr(), size


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


class MemoryBudget:
    """A number of bytes, as the number of rows that fit into it.

    What a row takes is measured for each model and kind of computation; another call with the same
    model finds it known.

    Args:
        max_memory: The bytes that a computation may take.
        model: The model whose rows are weighed.
    """

    def __init__(self, max_memory: int, model: Any) -> None:
        self.max_memory = max_memory
        self._known = _remembered_weights(model)

    def rows(self, kind: Kind) -> int:
        """Return how many rows of a kind fit, at least one."""
        return max(1, int(self.max_memory / self._known[kind].bytes_per_row))

    def needs_weighing(self, kind: Kind, size: int, rows: int) -> bool:
        """Return whether too little is known of a kind, for so many rows of graphs of a size."""
        weight = self._known.get(kind)
        if weight is None or weight.size * _LARGER < size:
            return True
        return self.rows(kind) < rows and weight.size < size

    def weigh(self, kind: Kind, size: int, compute: Callable[[], int]) -> None:
        """Measure a computation with a graph of a size, which returns how many rows it had.

        Let it run before: what a first call makes once, and keeps, is not of its rows.
        """
        rows, taken = measure_peak_bytes(compute)
        self._known[kind] = Weight(size, max(taken, 1) / max(rows, 1))

    def check(self, kind: Kind, rows: int) -> None:
        """Raise an error with the smallest budget that works, where so many rows do not fit."""
        if self.rows(kind) >= rows:
            return
        smallest = _rounded_up(self._known[kind].bytes_per_row * rows)
        raise MemoryBudgetError(
            "Expected `max_memory` to hold the states of this graph and enough candidates at a "
            f"time (got {self.max_memory:,} bytes). Pass at least max_memory={smallest:_}; with "
            "less, nearly all of the time would go into computing the same states again.",
            smallest,
        )


def memory_budget(max_memory: int | None, model: Any) -> MemoryBudget | None:
    """Return the budget of so many bytes, None where there is no limit."""
    return None if max_memory is None else MemoryBudget(max_memory, model)


class Weight(NamedTuple):
    """What a row takes, and the nodes of the graph that it was measured with."""

    size: int
    bytes_per_row: float


def _rounded_up(size: float) -> int:
    """Return a number of bytes with some room, in tenths of a megabyte."""
    return 100_000 * (int(1.02 * size) // 100_000 + 1)


_WEIGHTS: WeakKeyDictionary[Any, dict[Kind, Weight]] = WeakKeyDictionary()


def _remembered_weights(model: Any) -> dict[Kind, Weight]:
    try:
        return _WEIGHTS.setdefault(model, {})
    except TypeError:  # what cannot be referred to weakly
        return {}
