"""A candidate has the nodes that its edges touch."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from eigsearch.engines.incremental.index.timelines import Timelines
from eigsearch.engines.incremental.presence import Presence
from tests.engines.incremental.index.lines import (
    GROWING,
    edges_at,
    line_of,
    random_timelines,
    seeds,
)


def touched(timelines: Timelines, line: int, time: int) -> list[int]:
    """Return the nodes of a timeline that have an edge at a time."""
    edges = timelines.edges
    there = edges_at(timelines, line, time)
    return sorted({int(end[edge]) for end in (edges.source, edges.target) for edge in there})


@pytest.mark.parametrize("choice", [GROWING, ("flips",)])
@given(seed=seeds)
def test_pairs_of_edge_induced_candidates_are_the_nodes_with_an_edge(
    choice: tuple[str, ...], seed: int
) -> None:
    timelines = random_timelines(choice, seed)
    presence = Presence(timelines)
    pairs = presence.pairs
    node = np.searchsorted(timelines.time_ptr, pairs.node_time, side="right") - 1
    time = pairs.node_time - timelines.time_ptr[node]
    for candidate, (line, when) in enumerate(zip(*timelines.candidates, strict=True)):
        own = slice(pairs.ptr[candidate], pairs.ptr[candidate + 1])
        assert sorted(node[own].tolist()) == touched(timelines, int(line), int(when))
        assert set(time[own].tolist()) <= {int(when)}
        assert set(pairs.candidate[own].tolist()) <= {candidate}
        assert presence.counts[candidate] == own.stop - own.start
        assert all(line_of(timelines, n) == line for n in node[own].tolist())
