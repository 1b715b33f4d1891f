"""Timelines hold exactly the edges that candidates keep, whenever one asks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from eigsearch.candidates import FullGraph, LeaveOneOut, Prefixes, SingleFlips
from eigsearch.engines.incremental.index.timelines import build_timelines, toggles
from eigsearch.engines.request import Chunk
from tests.engines.incremental.index.lines import (
    TOGGLING,
    edges_at,
    kept_edges,
    kinds,
    line_of,
    random_chunk,
    random_timelines,
    seeds,
)


@given(choice=kinds, seed=seeds)
def test_build_timelines_any_candidates_hold_the_edges_that_each_keeps(
    choice: tuple[str, ...], seed: int
) -> None:
    timelines = random_timelines(choice, seed)
    lines, times = timelines.candidates
    expected = kept_edges(timelines)
    assert len(lines) == len(expected) == int(timelines.counts.sum())
    for line, time, kept in zip(lines.tolist(), times.tolist(), expected, strict=True):
        there = timelines.edges.attribute[edges_at(timelines, line, time)]
        assert set(there.tolist()) == kept
        assert time < timelines.lengths[line]


@given(choice=kinds, seed=seeds)
def test_build_timelines_ends_of_edges_are_those_of_the_graphs(
    choice: tuple[str, ...], seed: int
) -> None:
    timelines = random_timelines(choice, seed)
    instances = [chunk.request.instance for chunk in timelines.chunks]
    ends = np.concatenate([np.stack(instance.edge_arrays[:2]) for instance in instances], axis=1)
    edges = timelines.edges
    line = np.array([line_of(timelines, node) for node in edges.target.tolist()], int)
    shifted = ends[:, edges.attribute] + timelines.node_ptr[line]
    assert np.array_equal(np.stack([edges.source, edges.target]), shifted)
    assert (np.diff(edges.target) >= 0).all()
    assert timelines.node.tolist() == list(range(sum(i.num_nodes for i in instances)))


def test_build_timelines_one_graph_twice_shares_its_attributes() -> None:
    chunk = random_chunk("leave-one-out", np.random.default_rng(3))
    other = random_chunk("leave-one-out", np.random.default_rng(4))
    nodes = chunk.request.instance.num_nodes
    timelines = build_timelines([chunk, other, chunk])
    assert timelines.node[:nodes].tolist() == timelines.node[-nodes:].tolist()
    per_line = [edges_at(timelines, line, 0) for line in (0, 2)]
    first, last = (timelines.edges.attribute[edges].tolist() for edges in per_line)
    assert first == last == sorted(first, key=first.index)
    assert max(timelines.edges.attribute) < len(first) + other.request.instance.edge_arrays[0].size


@given(choice=kinds, seed=seeds)
def test_changes_at_is_the_one_time_at_which_an_edge_differs_from_the_time_before(
    choice: tuple[str, ...], seed: int
) -> None:
    timelines = random_timelines(choice, seed)
    edges = timelines.edges
    for edge in range(len(edges)):
        length = int(timelines.lengths[line_of(timelines, int(edges.target[edge]))])
        there = edges.present(np.full(length, edge), np.arange(length))
        before = (
            np.full(length, there[0]) if timelines.toggling else np.append(there[0], there)[:-1]
        )
        assert (there != before).nonzero()[0].tolist() == [t for t in [edges.changes_at[edge]] if t]


@given(choice=kinds, seed=seeds)
def test_changed_is_the_ends_of_edges_when_they_change(choice: tuple[str, ...], seed: int) -> None:
    timelines = random_timelines(choice, seed)
    edges, ptr = timelines.edges, timelines.time_ptr
    changing = [edge for edge in range(len(edges)) if edges.changes_at[edge]]
    into, out = timelines.changed
    assert into.tolist() == [ptr[edges.target[e]] + edges.changes_at[e] for e in changing]
    assert out.tolist() == [ptr[edges.source[e]] + edges.changes_at[e] for e in changing]
    lengths = [timelines.lengths[line_of(timelines, n)] for n in range(len(timelines.node))]
    assert np.diff(ptr).tolist() == lengths
    assert timelines.node_of_time.tolist() == [n for n, k in enumerate(lengths) for _ in range(k)]


@given(seed=seeds)
def test_first_edge_at_is_when_a_node_of_a_growing_timeline_gets_an_edge(seed: int) -> None:
    timelines = random_timelines(("prefixes", "complements"), seed)
    edges = timelines.edges
    for node, first in enumerate(timelines.first_edge_at.tolist()):
        line = line_of(timelines, node)
        touched = [
            time
            for time in range(timelines.lengths[line])
            for edge in edges_at(timelines, line, time)
            if node in (edges.source[edge], edges.target[edge])
        ]
        assert first == min(touched, default=first)
        assert touched or first >= timelines.lengths[line]


@given(choice=kinds, seed=seeds)
def test_by_source_into_wanted_nodes_lists_their_edges_by_source(
    choice: tuple[str, ...], seed: int
) -> None:
    edges = random_timelines(choice, seed).edges
    wanted = np.random.default_rng(seed).random(edges.num_nodes) < 0.5
    for nodes, (order, ptr) in [
        (np.ones(edges.num_nodes, bool), edges.by_source),
        (wanted, edges.by_source_into(wanted)),
    ]:
        for node in range(edges.num_nodes):
            leaving = [e for e in range(len(edges)) if edges.source[e] == node]
            expected = [e for e in leaving if nodes[edges.target[e]]]
            assert order[ptr[node] : ptr[node + 1]].tolist() == expected


@given(choice=kinds, seed=seeds)
def test_edges_into_a_node_are_sorted_by_when_they_appear(
    choice: tuple[str, ...], seed: int
) -> None:
    timelines = random_timelines(choice, seed)
    looped = timelines.edges.with_loops(np.arange(len(timelines.node)))
    for edges in (timelines.edges, looped):
        ends = list(zip(edges.target.tolist(), edges.appears_at.tolist(), strict=True))
        assert ends == sorted(ends)
        if not timelines.toggling:
            assert edges.appearing.tolist() == [timelines.time_ptr[n] + t for n, t in ends]
        base = [ends.count((node, 0)) for node in range(edges.num_nodes)]
        assert (edges.base_end - edges.target_ptr[:-1]).tolist() == base


@given(seed=seeds)
def test_flips_are_the_edges_that_flip_sorted_by_their_target_and_time(seed: int) -> None:
    edges = random_timelines(TOGGLING, seed).edges
    edge, pair = edges.flips
    assert sorted(edge.tolist()) == [e for e in range(len(edges)) if edges.flips_at[e] > 0]
    assert pair.tolist() == [edges.time_ptr[edges.target[e]] + edges.flips_at[e] for e in edge]
    found = list(zip(pair.tolist(), edge.tolist(), strict=True))
    assert found == sorted(found)


@given(choice=kinds, seed=seeds)
def test_with_loops_adds_a_loop_that_is_always_there(choice: tuple[str, ...], seed: int) -> None:
    timelines = random_timelines(choice, seed)
    node = np.arange(len(timelines.node))
    looped = timelines.edges.with_loops(node)
    added = (looped.attribute < 0).nonzero()[0]
    assert looped.target[added].tolist() == looped.source[added].tolist() == node.tolist()
    assert not looped.changes_at[added].any()
    assert looped.present(added, np.zeros(len(added), int)).all()
    assert (np.diff(looped.target) >= 0).all()
    assert looped.subset(added).is_identity
    assert not looped.subset(added[::-1]).is_identity or len(added) == 1
    old = (looped.attribute >= 0).nonzero()[0]
    assert looped.position[old].tolist() == list(range(len(timelines.edges)))
    assert looped.position[added].tolist() == (len(timelines.edges) + node).tolist()


@pytest.mark.parametrize("kind", TOGGLING)
def test_candidates_toggling_begin_behind_the_base(kind: str) -> None:
    chunk = random_chunk(kind, np.random.default_rng(1))
    line, time = build_timelines([chunk]).candidates
    assert line.tolist() == [0] * len(chunk)
    assert time.tolist() == list(range(1, len(chunk) + 1))


def test_toggles_prefixes_do_not() -> None:
    request = random_chunk("prefixes", np.random.default_rng(0)).request
    assert isinstance(request.candidate_set, Prefixes)
    assert not toggles(request.candidate_set)
    flips = SingleFlips(request.candidate_set.order > 0, [0])
    assert all(map(toggles, (FullGraph(3), LeaveOneOut(3), flips)))


def test_edge_induced_whole_graph_keeps_all_nodes() -> None:
    request = random_chunk("full", np.random.default_rng(0)).request
    assert not build_timelines([Chunk(request, 0, 1)]).edge_induced
    growing = random_chunk("prefixes", np.random.default_rng(0))
    assert build_timelines([growing]).edge_induced
