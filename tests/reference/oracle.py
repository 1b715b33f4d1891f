"""The exhaustive oracle: the best edge-induced subgraph of all, for graphs of up to 12 groups."""

from __future__ import annotations

from itertools import combinations

from torch_geometric.data import Data

from tests.reference import twin

LIMIT = 12


def best_gain(
    predict: twin.Predict, data: Data, asked: twin.Asked, smallest: int, largest: int
) -> tuple[float, set[int]]:
    """Return the highest gain over all subgraphs of the given sizes, and its directed edges."""
    group = twin.group_edges(data, "auto")
    names = sorted(set(group))
    assert len(names) <= LIMIT, f"{len(names)} groups have too many subsets"
    whole = twin.phi(predict, data, asked)
    best, chosen = float("-inf"), set()
    for size in range(smallest, largest + 1):
        for subset in combinations(names, size):
            plus, minus = twin.fidelities(predict, data, asked, group, set(subset), whole)
            if plus - minus > best:
                best, chosen = plus - minus, set(subset)
    return best, {e for e, g in enumerate(group) if g in chosen}
