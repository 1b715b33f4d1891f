from __future__ import annotations

import pytest

from eigsearch.engines.incremental.budget import Budget


@pytest.mark.parametrize(
    ("nodes", "most", "within", "limit"),
    [(10, None, 1000, 2000), (500, None, 4000, 8000), (500, 3000, 3000, 3000),
     (10, 1500, 1000, 1500)],
)  # fmt: skip
def test_budget_large_graphs_raise_it_and_memory_caps_it(
    nodes: int, most: int | None, within: int, limit: int
) -> None:
    budget = Budget(1000, most)
    assert budget.within(nodes) == within
    assert budget.limit(nodes) == limit
