"""Memory budgets: how many rows fit into a number of bytes, by measurement."""

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

PROBE = 1_024  # rows, or nodes, of the batch on which bytes per row are measured
# Allocators round up and keep what was freed for a while; measured in benchmarks/speed/memory.py.
_SLACK = 1.25
_LARGER = 8  # measure again for a graph with this many times the nodes of the last one


class _Meter(TorchDispatchMode):
    """Tracks the bytes of tensors from when operations make them until they are freed."""

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
    """Return the address of a tensor's storage, and its size in bytes."""
    if tensor.layout is torch.strided:
        storage = tensor.untyped_storage()
        return storage.data_ptr(), storage.nbytes()
    values = tensor._values() if tensor.layout is torch.sparse_coo else tensor.values()
    # each value has an index of eight bytes for each dimension
    size = values.untyped_storage().nbytes() + 8 * tensor.dim() * values.size(0)
    return values.untyped_storage().data_ptr(), size


def measure_peak_bytes(compute: Callable[[], Result]) -> tuple[Result, int]:
    """Return the result of a computation, and its peak bytes in tensors and arrays.

    Measuring takes several times as long as computing, so use it on a small batch only.
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
    """Converts a number of bytes into the number of rows that fit.

    What rows take is measured for each model and kind of computation, and cached for later calls
    with the same model.

    Args:
        max_memory: The bytes that a computation may take.
        model: The model whose rows are measured.
    """

    def __init__(self, max_memory: int, model: Any) -> None:
        self.max_memory = max_memory
        self._known = _remembered_weights(model)

    def rows(self, kind: Kind) -> int:
        """Return how many rows of a kind fit, at least one."""
        weight = self._known[kind]
        return max(1, int((self.max_memory - weight.fixed) / weight.bytes_per_row))

    def needs_weighing(self, kind: Kind, size: int, rows: int) -> bool:
        """Return whether what rows take has to be measured, or measured again."""
        weight = self._known.get(kind)
        if weight is None or weight.size * _LARGER < size:
            return True
        return self.rows(kind) < rows and (weight.size < size or weight.wanted < rows)

    def weigh(
        self,
        kind: Kind,
        size: int,
        wanted: int,
        compute: Callable[[int], int],
        heaviest: float = 1.0,
    ) -> None:
        """Measure what rows of a computation take.

        What a run takes however many rows it has would count for each row if those are few. So
        few rows are measured twice: as they are, and with as many copies as make them many.

        Args:
            kind: The kind of computation.
            size: The nodes of its graph.
            wanted: How many rows are measured at most, unless one copy has more.
            compute: Computes so many copies of some rows, and returns how many rows that were. Run
                it once before: what a first call allocates and keeps does not belong to its rows.
            heaviest: The bytes of a row of any computation of this kind, per byte of these rows.
        """
        fixed, (rows, taken) = 0, measure_peak_bytes(lambda: compute(1))
        copies = wanted // max(rows, 1)
        if copies > 1:
            fixed, (rows, taken) = taken, measure_peak_bytes(lambda: compute(copies))
        self._known[kind] = Weight(size, wanted, fixed, heaviest * max(taken, 1) / max(rows, 1))

    def check(self, kind: Kind, rows: int) -> None:
        """Raise MemoryBudgetError with the smallest sufficient budget if rows do not fit."""
        if self.rows(kind) >= rows:
            return
        weight = self._known[kind]
        smallest = _rounded_up(weight.fixed + weight.bytes_per_row * rows)
        raise MemoryBudgetError(
            "Expected `max_memory` to hold the states of this graph and enough candidates at a "
            f"time (got {self.max_memory:,} bytes). Pass at least max_memory={smallest:_}; with "
            "less, nearly all of the time would go into computing the same states again.",
            smallest,
        )


def memory_budget(max_memory: int | None, model: Any) -> MemoryBudget | None:
    """Return the budget for a number of bytes; None if there is no limit."""
    return None if max_memory is None else MemoryBudget(max_memory, model)


class Weight(NamedTuple):
    """The bytes of a run and of each row, and the nodes and rows they were measured for."""

    size: int
    wanted: int
    fixed: int
    bytes_per_row: float


def _rounded_up(size: float) -> int:
    """Return a number of bytes plus 2 %, rounded up to a tenth of a megabyte."""
    return 100_000 * (int(1.02 * size) // 100_000 + 1)


_WEIGHTS: WeakKeyDictionary[Any, dict[Kind, Weight]] = WeakKeyDictionary()


def _remembered_weights(model: Any) -> dict[Kind, Weight]:
    try:
        return _WEIGHTS.setdefault(model, {})
    except TypeError:  # an object that no weak reference can point to
        return {}
