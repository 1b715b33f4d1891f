"""Packing: batches of candidates whose rows are expected to fit a budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from eigsearch.candidates import FullGraph
from eigsearch.engines.incremental.budget import Budget
from eigsearch.engines.request import Chunk, Request

_MARGIN = 1.1  # rows to plan for, per row that an earlier batch had
_AT_ONCE = 1.5  # limits the growth from batch to batch, as later prefixes are larger
# The rows that a memory budget has to hold, per base row and on top, so that a run takes at most
# four times as long as without a budget. With fewer, base states or calls are most of the work.
# Measured in benchmarks/speed/memory.py.
_PER_BASE_ROW = 2
_ENOUGH = 768


def rows_wanted(num_nodes: int) -> int:
    """Return how many rows a memory budget has to hold at least for a graph."""
    return _PER_BASE_ROW * num_nodes + _ENOUGH


class Packing:
    """Splits requests into batches of chunks that are expected to fit the budget.

    The rows of earlier batches correct the estimate for the next ones if memory is limited, or once
    candidates of a type had more rows than expected.
    """

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self._pace: dict[type, float] = {}  # rows found, per row expected, by type of candidates

    def limit_rows(self, most: int | None) -> None:
        """Set how many rows fit into memory."""
        self.budget = Budget(self.budget.rows, most)

    def batches(self, requests: Sequence[Request], layers: int) -> Iterator[list[Chunk]]:
        """Yield batches lazily, so that the rows of one correct the estimate for the next."""
        batch: list[Chunk] = []
        room = full = self.budget.within(0)
        for chunk, rows in (piece for r in requests for piece in self._chunks(r, layers)):
            if batch and rows > room:
                yield batch
                batch, room = [], full
            batch.append(chunk)
            room -= rows
        if batch:
            yield batch

    def _chunks(self, request: Request, layers: int) -> Iterator[tuple[Chunk, int]]:
        """Yield chunks of a request with their expected numbers of rows."""
        nodes, start = request.instance.num_nodes, 0
        room = max(self.budget.within(nodes) - nodes, 1)
        while start < request.size:
            left = request.size - start
            changed = self._changed(request, left, layers)
            size = max(1, -(-left // max(1, -(-changed // room))))
            yield Chunk(request, start, start + size), nodes + changed * size // left
            start += size

    def _changed(self, request: Request, count: int, layers: int) -> int:
        """Return how many rows `count` of the candidates are expected to change."""
        nodes = request.instance.num_nodes
        changed = expected_rows(request, layers).widest - nodes
        pace = self._pace_of(type(request.candidate_set))
        return int(pace * changed * count / request.size)

    def learn(self, chunks: Sequence[Chunk], layers: int, widest: int) -> None:
        """Correct the estimate by the number of rows that a batch had."""
        kind = _type_of(chunks)
        if self.budget.most is not None or kind in self._pace:
            least = self._pace_of(kind) / _AT_ONCE
            self._pace[kind] = max(self._found(chunks, layers, widest), least)

    def parts(self, chunks: Sequence[Chunk], layers: int, rows: int) -> int:
        """Return into how many parts to split a batch that had too many rows."""
        kind = _type_of(chunks)
        self._pace[kind] = max(self._pace_of(kind), self._found(chunks, layers, rows))
        nodes = _base_rows(chunks)
        room = max(self.budget.within(nodes) - nodes, 1)
        return max(2, -(-int(_MARGIN * (rows - nodes)) // room))

    def _found(self, chunks: Sequence[Chunk], layers: int, rows: int) -> float:
        """Return how many rows to plan per expected row, after a batch had `rows` of them."""
        pace = self._pace_of(_type_of(chunks))
        planned = sum(self._changed(chunk.request, len(chunk), layers) for chunk in chunks) / pace
        return _MARGIN * max(rows - _base_rows(chunks), 1) / planned if planned >= 1 else pace

    def _pace_of(self, kind: type) -> float:
        """Return the rows per expected row of a type of candidates, or the largest known."""
        if kind in self._pace:
            return self._pace[kind]
        return max(self._pace.values()) if self._pace else 1.0


def _type_of(chunks: Sequence[Chunk]) -> type:
    return type(chunks[0].request.candidate_set)


def _base_rows(chunks: Sequence[Chunk]) -> int:
    return sum(chunk.request.instance.num_nodes for chunk in chunks)


class Expected(NamedTuple):
    """The estimated rows of a request: in all layers together, and in the widest."""

    total: int
    widest: int


def expected_rows(request: Request, layers: int) -> Expected:
    """Estimate the rows of a request: base states, and those that a change reaches."""
    instance = request.instance
    changes = 0 if isinstance(request.candidate_set, FullGraph) else request.size
    return _expected(instance.num_nodes, instance.groups.index.numel(), changes, layers)


@lru_cache(maxsize=4096)  # requests of a graph are alike, and so are molecules
def _expected(nodes: int, edges: int, changes: int, layers: int) -> Expected:
    degree = edges / max(nodes, 1)
    reach = total = 0.0  # nodes that a change reaches, in the last layer and in all together
    for hop in range(layers):
        reach = min(reach + 2 * max(degree - 1, 1) ** hop, nodes)
        total += reach
    return Expected(int(layers * nodes + changes * total), int(nodes + changes * reach))
