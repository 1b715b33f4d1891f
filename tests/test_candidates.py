"""Families: the same rows whether asked for one by one or all at once."""

from __future__ import annotations

from itertools import combinations

import pytest
import torch

from eigsearch.candidates import (
    CandidateSet,
    ComplementOf,
    Complements,
    ExplicitMasks,
    FullGraph,
    JointFlips,
    LeaveOneOut,
    Prefixes,
    SingleFlips,
    SubgraphKind,
    Subsets,
)

ORDER = torch.tensor([2, 0, 3, 1])
FAMILIES: dict[str, tuple[CandidateSet, list[list[int]]]] = {
    "whole": (FullGraph(3), [[1, 1, 1]]),
    "leave one out": (LeaveOneOut(3), [[0, 1, 1], [1, 0, 1], [1, 1, 0]]),
    "prefixes": (Prefixes(ORDER, [1, 3]), [[0, 0, 1, 0], [1, 0, 1, 1]]),
    "complements": (Complements(ORDER, [1, 3]), [[1, 1, 0, 1], [0, 1, 0, 0]]),
    "toggles": (
        SingleFlips(torch.tensor([True, False, True]), [1, 2]),
        [[1, 1, 1], [1, 0, 0]],
    ),
    "joint toggles": (
        JointFlips(torch.tensor([True, False, True]), torch.tensor([2, 0, 2]), [0, 2, 3]),
        [[1, 1, 1], [0, 0, 0], [1, 0, 1]],
    ),
    "rows": (ExplicitMasks(torch.eye(2, dtype=torch.bool)), [[1, 0], [0, 1]]),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_rows_of_every_set_alone_and_together_are_expected(name: str) -> None:
    candidate_set, expected = FAMILIES[name]
    assert len(candidate_set) == len(expected)
    assert candidate_set.rows(0, len(candidate_set)).int().tolist() == expected
    for number, row in enumerate(expected):
        one = candidate_set.rows(number, number + 1)
        assert one.dtype == torch.bool
        assert one.int().tolist() == [row]


def test_ranking_keeps_nodes_and_search_drops_them() -> None:
    assert LeaveOneOut(3).subgraph_kind is SubgraphKind.ALL_NODES
    assert (
        Prefixes(ORDER, [1]).subgraph_kind
        is Complements(ORDER, [1]).subgraph_kind
        is SubgraphKind.EDGE_INDUCED
    )


def test_candidate_set_of_many_candidates_is_small() -> None:
    """A graph with 100,000 groups has candidates × groups = 10^10 entries, and none of them yet."""
    candidate_set = Prefixes(torch.arange(100_000), range(1, 100_000))
    assert candidate_set.rows(99_990, 99_992).sum(dim=1).tolist() == [99_991, 99_992]


@pytest.mark.parametrize(("width", "smallest", "largest"), [(5, 0, 5), (6, 2, 4), (1, 1, 1)])
def test_subsets_any_sizes_are_all_of_them_in_order(width, smallest, largest):
    order = torch.randperm(width, generator=torch.Generator().manual_seed(0))
    candidate_set = Subsets(order, smallest, largest)
    expected = [
        sorted(int(order[i]) for i in places)
        for size in range(smallest, largest + 1)
        for places in combinations(range(width), size)
    ]
    assert [
        row.nonzero().flatten().tolist() for row in candidate_set.rows(0, len(candidate_set))
    ] == expected
    for start in range(0, len(candidate_set), 3):
        stop = min(start + 3, len(candidate_set))
        assert torch.equal(
            candidate_set.rows(start, stop), candidate_set.rows(0, len(candidate_set))[start:stop]
        )
    assert torch.equal(ComplementOf(candidate_set).rows(0, 1), ~candidate_set.rows(0, 1))
    assert ComplementOf(candidate_set).subgraph_kind is candidate_set.subgraph_kind


def test_subsets_wide_graph_needs_no_memory():
    assert sum(Subsets(torch.arange(200), 1, 100).counts) > 10**58
    small = Subsets(torch.arange(200), 2, 3)
    assert small.rows(len(small) - 1, len(small))[0].nonzero().flatten().tolist() == [197, 198, 199]
