from __future__ import annotations

from itertools import combinations

import pytest
import torch

from eigsearch.candidates import ComplementOf, Subsets


@pytest.mark.parametrize(("width", "smallest", "largest"), [(5, 0, 5), (6, 2, 4), (1, 1, 1)])
def test_subsets_are_all_of_them_in_order(width, smallest, largest):
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


def test_subsets_of_a_wide_graph_need_no_memory():
    assert sum(Subsets(torch.arange(200), 1, 100).counts) > 10**58
    small = Subsets(torch.arange(200), 2, 3)
    assert small.rows(len(small) - 1, len(small))[0].nonzero().flatten().tolist() == [197, 198, 199]
