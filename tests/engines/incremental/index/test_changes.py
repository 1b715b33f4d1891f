"""What a row's messages have more and less than at time 0, against all its messages."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given

from eigsearch.engines.incremental.index.changes import Changes, changes_of
from eigsearch.engines.incremental.index.state_table import Messages, StateTable, base_table
from tests.engines.incremental.index.lines import TOGGLING, random_timelines, seeds


def sent(messages: Messages, below: StateTable | None) -> list[Counter]:
    """Return for each row the edges of its messages, with the state below that each sends."""
    found: list[Counter] = [Counter() for _ in range(len(messages.table))]
    state = messages.edge * 0 if below is None else below.find(messages.sent_at)
    for row, edge, sender in zip(messages.row, messages.edge, state, strict=True):
        found[row][int(edge), int(sender)] += 1
    return found


def added(changes: Changes, table: StateTable, below: StateTable | None) -> list[Counter]:
    """Return for each row how often a message is gained, less how often it is lost."""
    found: list[Counter] = [Counter() for _ in range(len(table))]
    starts = table.timelines.edges.source_start
    for row in range(len(table)):
        for entry in range(changes.ptr[row], changes.ptr[row + 1]):
            edge, time = int(changes.edge[entry]), int(changes.time[entry])
            state = 0 if below is None else int(below.find(starts[[edge]] + time)[0])
            found[row][edge, state] += int(changes.sign[entry])
    return found


@pytest.mark.parametrize("layers", [None, 0, 1])
@given(seed=seeds)
def test_changes_of_rows_lead_from_the_messages_at_time_zero_to_theirs(
    layers: int | None, seed: int
) -> None:
    timelines = random_timelines(TOGGLING, seed)
    below = base_table(timelines)
    for _ in range(layers or 0):
        below = below.propagate()
    table = below.propagate()
    sender = None if layers is None else below
    messages = sent(Messages(timelines.edges, table), sender)
    changes = added(changes_of(table, timelines.edges, sender), table, sender)
    for row, node in enumerate(table.node.tolist()):
        first = int(table.find(timelines.time_ptr[[node]])[0])
        difference = Counter(messages[row])
        difference.subtract(messages[first])
        assert {k: n for k, n in difference.items() if n} == {
            k: n for k, n in changes[row].items() if n
        }


@given(seed=seeds)
def test_changes_of_rows_out_of_reach_are_left_out(seed: int) -> None:
    timelines = random_timelines(TOGGLING, seed)
    below = base_table(timelines).propagate()
    wanted = np.random.default_rng(seed).random(len(timelines.node)) < 0.5
    whole = below.propagate()
    table = whole.only(np.flatnonzero(wanted[whole.node] | (whole.time == 0)))
    some = added(changes_of(table, timelines.edges, below), table, below)
    every = added(changes_of(whole, timelines.edges, below), whole, below)
    place = {int(key): row for row, key in enumerate(whole.key)}
    for row, key in enumerate(table.key.tolist()):
        if wanted[table.node[row]]:
            assert +some[row] == +every[place[key]]
