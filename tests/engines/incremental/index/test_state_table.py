"""State tables have a row wherever a state changes, and messages are the edges that are there."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given

from eigsearch.engines.incremental.index import state_table
from eigsearch.engines.incremental.index.state_table import Messages, StateTable, base_table
from eigsearch.engines.incremental.index.timelines import Timelines
from tests.engines.incremental.index.lines import (
    GROWING,
    TOGGLING,
    edges_at,
    kinds,
    line_of,
    random_timelines,
    seeds,
    states,
)


@pytest.fixture(params=[state_table._DENSE, 0], ids=["dense", "searched"], scope="module")
def look_up(request: pytest.FixtureRequest) -> Iterator[int]:
    """Find rows in a dense table, or by searching the sorted ones."""
    usual, state_table._DENSE = state_table._DENSE, request.param
    yield request.param
    state_table._DENSE = usual


def pairs(timelines: Timelines) -> list[tuple[int, int]]:
    lengths = np.diff(timelines.time_ptr).tolist()
    return [(node, time) for node, length in enumerate(lengths) for time in range(length)]


def rows_by_loop(table: StateTable) -> list[int]:
    """Return the row that holds at every (node, time) pair."""
    present = list(zip(table.node.tolist(), table.time.tolist(), strict=True))
    found = []
    for node, time in pairs(table.timelines):
        earlier = [t for n, t in present if n == node and t <= time]
        exact = time if (node, time) in present else 0
        found.append(present.index((node, exact if table.timelines.toggling else max(earlier))))
    return found


@given(choice=kinds, seed=seeds)
def test_find_any_pair_is_the_row_that_holds(
    look_up: int, choice: tuple[str, ...], seed: int
) -> None:
    table = base_table(random_timelines(choice, seed)).propagate()
    assert table.dense == bool(look_up)
    every = np.arange(table.timelines.time_ptr[-1])
    assert table.find(every).tolist() == rows_by_loop(table)
    assert table.key.tolist() == sorted(set(table.key.tolist()))
    assert (table.timelines.time_ptr[table.node] + table.time).tolist() == table.key.tolist()


@given(choice=kinds, seed=seeds)
def test_propagate_each_layer_has_a_row_where_the_state_of_a_node_changes(
    look_up: int, choice: tuple[str, ...], seed: int
) -> None:
    timelines = random_timelines(choice, seed)
    table = base_table(timelines)
    for depth, state in enumerate(states(timelines, layers=2)):
        held = table.find(np.arange(timelines.time_ptr[-1]))
        for pair, row in zip(pairs(timelines), held.tolist(), strict=True):
            assert state[pair] == state[int(table.node[row]), int(table.time[row])]
        assert table.depth == depth
        table = table.propagate()


@given(choice=kinds, seed=seeds)
def test_propagate_merged_tables_has_a_row_where_the_state_of_a_node_changes(
    choice: tuple[str, ...], seed: int
) -> None:
    timelines = random_timelines(choice, seed)
    base, every = base_table(timelines), np.arange(timelines.time_ptr[-1])
    merged = base.propagate().merged(base.including(timelines.time_ptr[1:] - 1))
    table, state = merged.propagate(), states(timelines, layers=2)[2]
    for pair, row in zip(pairs(timelines), table.find(every).tolist(), strict=True):
        assert state[pair] == state[int(table.node[row]), int(table.time[row])]


@given(choice=kinds, seed=seeds)
def test_propagate_rows_without_cause_are_not_made(choice: tuple[str, ...], seed: int) -> None:
    """A row at a later time comes from an edge that changes there, or from such a row below."""
    timelines = random_timelines(choice, seed)
    below = base_table(timelines)
    for _ in range(2):
        table = below.propagate()
        moved = {(n, t) for n, t in zip(below.node, below.time, strict=True) if t > 0}
        causes = set(timelines.changed[0].tolist()) | set(below.key.tolist())
        for node, time in moved:
            there = edges_at(timelines, line_of(timelines, node), time)
            ends = [timelines.edges.target[e] for e in there if timelines.edges.source[e] == node]
            causes |= {int(timelines.time_ptr[end] + time) for end in ends}
        assert set(table.key.tolist()) == causes
        below = table


@given(choice=kinds, seed=seeds)
def test_propagate_into_wanted_nodes_has_all_rows_of_those(
    look_up: int, choice: tuple[str, ...], seed: int
) -> None:
    timelines = random_timelines(choice, seed)
    wanted = np.random.default_rng(seed).random(len(timelines.node)) < 0.5
    below = base_table(timelines).propagate()
    some, every = below.propagate(wanted), below.propagate()
    assert some.key[wanted[some.node]].tolist() == every.key[wanted[every.node]].tolist()
    rest = set(some.key[~wanted[some.node]].tolist())
    assert rest == set(below.key[~wanted[below.node]].tolist())


@given(choice=kinds, seed=seeds)
def test_propagate_fresh_rows_are_those_that_the_layer_below_lacks(
    choice: tuple[str, ...], seed: int
) -> None:
    below = base_table(random_timelines(choice, seed)).propagate()
    table = below.propagate()
    assert table.fresh is not None
    assert set(table.key[~table.fresh].tolist()) == set(below.key.tolist())


@given(choice=kinds, seed=seeds)
def test_covering_edges_adds_the_pairs_at_which_edges_change(
    look_up: int, choice: tuple[str, ...], seed: int
) -> None:
    base = base_table(random_timelines(choice, seed))
    table = base.covering_edges()
    changed = set(base.timelines.changed[0].tolist())
    assert set(table.key.tolist()) == set(base.key.tolist()) | changed
    assert table.covers_edges
    assert table.covered is base
    assert table.depth == base.depth
    assert table.covering_edges() is table
    assert base.propagate().covering_edges().covers_edges


@given(choice=kinds, seed=seeds)
def test_merged_holds_the_rows_of_both_and_is_the_larger_where_one_holds_the_other(
    look_up: int, choice: tuple[str, ...], seed: int
) -> None:
    base = base_table(random_timelines(choice, seed))
    deep, covering = base.propagate().propagate(), base.covering_edges()
    assert deep.merged(base) is deep
    assert base.merged(deep) is deep
    assert deep.merged(covering) is deep
    extra = base.including(base.timelines.time_ptr[1:] - 1)
    both = deep.merged(extra)
    assert set(both.key.tolist()) == set(deep.key.tolist()) | set(extra.key.tolist())
    assert (both.depth, both.covers_edges) == (2, True)
    assert extra.merged(deep).key.tolist() == both.key.tolist()
    assert both.merged(deep) is both


@given(choice=kinds, seed=seeds)
def test_only_some_rows_keep_their_times_and_their_origin(
    choice: tuple[str, ...], seed: int
) -> None:
    table = base_table(random_timelines(choice, seed)).propagate()
    chosen = np.flatnonzero(table.node % 2 == 0)
    part = table.of_kind(1, chosen)
    assert part.key.tolist() == table.key[chosen].tolist()
    assert part.fresh is not None
    assert table.fresh is not None
    assert part.fresh.tolist() == table.fresh[chosen].tolist()
    assert (part.kind, part.of_all_kinds) == (1, table)
    assert table.of_all_kinds is table


def messages_by_loop(messages: Messages) -> list[list[int]]:
    """Return the edges into each row that are there at its time."""
    table, edges = messages.table, messages.edges
    found = []
    for node, time in zip(table.node.tolist(), table.time.tolist(), strict=True):
        there = edges_at(table.timelines, line_of(table.timelines, node), time)
        found.append([edge for edge in there if edges.target[edge] == node])
    return found


@given(choice=kinds, seed=seeds)
def test_messages_of_each_row_are_the_edges_that_are_there(
    choice: tuple[str, ...], seed: int
) -> None:
    timelines = random_timelines(choice, seed)
    table = base_table(timelines).propagate()
    messages = Messages(timelines.edges, table)
    expected = messages_by_loop(messages)
    ptr = messages.ptr
    assert [messages.edge[a:b].tolist() for a, b in pairwise(ptr)] == expected
    assert messages.row.tolist() == [row for row, edges in enumerate(expected) for _ in edges]
    assert len(messages) == sum(map(len, expected)) <= table.num_messages
    assert table.num_messages == sum(int((timelines.edges.target == n).sum()) for n in table.node)
    sources = timelines.edges.source[messages.edge]
    assert messages.sent_at.tolist() == (timelines.time_ptr[sources] + messages.time).tolist()


@given(choice=kinds, seed=seeds)
def test_within_a_coarser_table_finds_the_message_along_the_same_edge(
    choice: tuple[str, ...], seed: int
) -> None:
    timelines = random_timelines(choice, seed)
    base = base_table(timelines)
    coarse = Messages(timelines.edges, base.covering_edges())
    fine = Messages(timelines.edges, base.propagate().propagate())
    place = fine.within(coarse)
    assert coarse.edge[place].tolist() == fine.edge.tolist()
    held = coarse.table.find(fine.table.key)
    assert coarse.row[place].tolist() == held[fine.row].tolist()


@given(choice=kinds, seed=seeds)
def test_by_source_lists_each_present_message_at_every_row_of_its_source(
    choice: tuple[str, ...], seed: int
) -> None:
    timelines = random_timelines(choice, seed)
    messages = Messages(timelines.edges, base_table(timelines).propagate())
    rows, ptr, message = messages.by_source()
    assert rows.depth == messages.table.depth + 1
    assert set(rows.key.tolist()) == (
        set(timelines.time_ptr[:-1].tolist())
        | set(messages.sent_at.tolist())
        | set(timelines.changed[1].tolist())
    )
    for row, (node, time) in enumerate(zip(rows.node.tolist(), rows.time.tolist(), strict=True)):
        there = edges_at(timelines, line_of(timelines, node), time)
        sent = [edge for edge in there if timelines.edges.source[edge] == node]
        found = message[ptr[row] : ptr[row + 1]]
        assert messages.edge[found].tolist() == sent
        entered = timelines.time_ptr[timelines.edges.target[sent]] + time
        assert messages.row[found].tolist() == messages.table.find(entered).tolist()


@pytest.mark.parametrize("choice", [GROWING, TOGGLING])
def test_base_table_has_every_node_at_time_zero(choice: tuple[str, ...]) -> None:
    timelines = random_timelines(choice, 0)
    table = base_table(timelines)
    assert table.node.tolist() == list(range(len(timelines.node)))
    assert not table.time.any()
    assert (table.depth, table.covers_edges, len(table)) == (0, False, len(timelines.node))
