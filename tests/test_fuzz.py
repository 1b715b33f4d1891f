"""The long fuzz works: some of its cases pass, and a broken promise is found by its number."""

from __future__ import annotations

import pytest
from benchmarks.fuzz.__main__ import fuzz
from benchmarks.fuzz.cases import draw_case
from benchmarks.fuzz.check import Tally, check_case
from benchmarks.fuzz.promises import SOMETIMES
from benchmarks.fuzz.same import Broken
from torch import Tensor

from eigsearch.engine import union
from eigsearch.query import Query


def test_some_graphs_keep_every_promise() -> None:
    tally, failed = fuzz(graphs=120, seed=7)
    assert failed == []
    assert tally.graphs >= 120
    assert tally.explanations > 60


def test_a_case_is_a_function_of_its_number() -> None:
    one, other = draw_case(0, 5), draw_case(0, 5)
    assert str(one) == str(other)
    assert all(a.x.equal(b.x) for a, b in zip(one.graphs, other.graphs, strict=True))
    state = other.model.state_dict()
    assert all(value.equal(state[name]) for name, value in one.model.state_dict().items())


def test_a_broken_promise_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Isolated nodes that stay in a subgraph change what a model that pools by mean says."""

    def everyone(query: Query, edge_keep: Tensor) -> Tensor:
        return edge_keep.new_ones(len(edge_keep), query.num_nodes)

    monkeypatch.setattr(union, "_endpoints", everyone)
    assert any(breaks(number) for number in range(4))


def breaks(number: int) -> bool:
    try:
        check_case(7, number, Tally(), promises=len(SOMETIMES))
    except Broken:
        return True
    return False
