"""Packing: which candidates are computed together, so that their rows fit a budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from eigsearch.candidates import FullGraph
from eigsearch.engines.incremental.budget import Budget
from eigsearch.engines.request import Chunk, Request

_MARGIN = 1.1  # rows that are planned for, per row that was found
_AT_ONCE = 1.5  # times as many candidates as in the last batch: growing subgraphs grow
# What a budget in bytes has to hold, so that it costs at most four times the time without: these
# rows per base row, and these besides, else base states or calls are most of the work. Measured in
# benchmarks/speed/memory.py.
_PER_BASE_ROW = 2
_ENOUGH = 768


def rows_wanted(num_nodes: int) -> int:
    """Return how many rows have to fit together for a graph to be explained in fair time."""
    return _PER_BASE_ROW * num_nodes + _ENOUGH


class Packing:
    """Cuts requests into batches of chunks whose rows are likely to fit the budget together.

    What batches had tells how many candidates fit into the next: where memory is limited, and
    where candidates of a type have more rows than expected.
    """

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self._pace: dict[type, float] = {}  # rows found, per row expected, by type of candidates

    def limit_rows(self, most: int | None) -> None:
        """Set how many rows fit into memory."""
        self.budget = Budget(self.budget.rows, most)

    def batches(self, requests: Sequence[Request], layers: int) -> Iterator[list[Chunk]]:
        """Yield batches; the next one is cut when it is asked for."""
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
        """Yield chunks of a request with the rows that each is expected to have."""
        nodes, start = request.instance.num_nodes, 0
        while start < len(request):
            left = len(request) - start
            changed = self._changed(request, left, layers)
            room = max(self.budget.within(nodes) - nodes, 1)
            size = max(1, -(-left // max(1, -(-changed // room))))
            yield Chunk(request, start, start + size), nodes + changed * size // left
            start += size

    def _changed(self, request: Request, count: int, layers: int) -> int:
        """Return how many rows some of the candidates are likely to change."""
        nodes = request.instance.num_nodes
        changed = expected_rows(request, layers).widest - nodes
        pace = self._pace_of(type(request.candidate_set))
        return int(pace * changed * count / len(request))

    def learn(self, chunks: Sequence[Chunk], layers: int, widest: int) -> None:
        """Take note of how many rows a batch had."""
        kind = _type_of(chunks)
        if self.budget.most is not None or kind in self._pace:
            least = self._pace_of(kind) / _AT_ONCE
            self._pace[kind] = max(self._found(chunks, layers, widest), least)

    def parts(self, chunks: Sequence[Chunk], layers: int, rows: int) -> int:
        """Return into how many parts a batch is to be cut that had too many rows, so far."""
        kind = _type_of(chunks)
        self._pace[kind] = max(self._pace_of(kind), self._found(chunks, layers, rows))
        nodes = _base_rows(chunks)
        room = max(self.budget.within(nodes) - nodes, 1)
        return max(2, -(-int(_MARGIN * (rows - nodes)) // room))

    def _found(self, chunks: Sequence[Chunk], layers: int, rows: int) -> float:
        """Return how many rows to plan for, per row that is expected, after a batch had some."""
        pace = self._pace_of(_type_of(chunks))
        planned = sum(self._changed(chunk.request, len(chunk), layers) for chunk in chunks) / pace
        return _MARGIN * max(rows - _base_rows(chunks), 1) / planned if planned >= 1 else pace

    def _pace_of(self, kind: type) -> float:
        """Return the rows per expected row of a type of candidates, or the most of any other."""
        return self._pace.get(kind, max(self._pace.values(), default=1.0))


def _type_of(chunks: Sequence[Chunk]) -> type:
    return type(chunks[0].request.candidate_set)


def _base_rows(chunks: Sequence[Chunk]) -> int:
    return sum(chunk.request.instance.num_nodes for chunk in chunks)


class Expected(NamedTuple):
    """About how many rows a request has: in all layers together, and in the widest."""

    total: int
    widest: int


def expected_rows(request: Request, layers: int) -> Expected:
    """Return about how many rows there are: base states, and those that a change reaches."""
    instance = request.instance
    changes = 0 if isinstance(request.candidate_set, FullGraph) else len(request)
    return _expected(instance.num_nodes, instance.groups.index.numel(), changes, layers)


@lru_cache(maxsize=4096)  # the requests of a graph are alike, and so are molecules
def _expected(nodes: int, edges: int, changes: int, layers: int) -> Expected:
    degree = edges / max(nodes, 1)
    reach = total = 0.0  # nodes that a change reaches, in the last layer and in all together
    for hop in range(layers):
        reach = min(reach + 2 * max(degree - 1, 1) ** hop, nodes)
        total += reach
    return Expected(int(layers * nodes + changes * total), int(nodes + changes * reach))
