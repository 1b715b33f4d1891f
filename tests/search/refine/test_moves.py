"""What a round of the climb evaluates beside single toggles."""

from __future__ import annotations

import numpy as np

from eigsearch.search import Refine
from eigsearch.search.evaluation_cache import EvaluationCache
from eigsearch.search.refine.moves import Surroundings, propose_moves
from tests.search.drive import problem_of

GROUPS = 5
WEIGHT = np.array([1.0, 5.0, 2.0, 4.0, 3.0])  # φ is the sum over the groups that are kept


def around(keep: list[bool], sweep: bool = True) -> Surroundings:
    """Return a subgraph with φ of all its toggles, groups ranked in order."""
    kept = np.array(keep)
    toggled = kept ^ np.eye(GROUPS, dtype=bool)
    return Surroundings(
        Refine(),
        problem_of(GROUPS, phi_full=float(WEIGHT.sum())),
        EvaluationCache(GROUPS),
        np.arange(GROUPS),
        kept,
        float(WEIGHT[kept].sum()),
        float(WEIGHT[~kept].sum()),
        toggled @ WEIGHT,
        ~toggled @ WEIGHT,
        sweep,
    )


def test_propose_moves_sweep_ranks_by_what_each_group_adds() -> None:
    """A group inside adds what its removal loses, one outside what its addition gains."""
    (found,) = propose_moves([around([True, True, False, False, True])])
    assert found.sweep is not None
    rows = found.sweep.rows(np.arange(len(found.sweep)))
    assert [np.flatnonzero(row).tolist() for row in rows] == [[1, 3], [1, 3, 4], [1, 2, 3, 4]]


def test_propose_moves_sweep_of_one_of_two_is_left_out_where_unwanted() -> None:
    keep = [True, True, False, False, False]
    first, second = propose_moves([around(keep, sweep=False), around(keep)])
    assert first.sweep is None
    assert second.sweep is not None
    assert second.sweep.size.tolist() == [2, 3, 4]
