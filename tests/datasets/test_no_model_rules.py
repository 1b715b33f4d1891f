"""Rules that never call a model: what they score, and that they do not find our truths."""

from __future__ import annotations

import numpy as np
import pytest

from eigsearch import datasets
from eigsearch.datasets.no_model_rules import (
    RULES,
    Structure,
    low_degree,
    low_degree_path,
    near_the_ends,
    on_short_path,
    rare_type,
    rule_aucs,
)

# Ends 0 and 3. Paths 0–1–3 and 0–2–4–3, a dead end 1–5, and far away 6–7.
PAIRS = [(0, 1), (1, 3), (0, 2), (2, 4), (4, 3), (1, 5), (6, 7)]
ENDS = (0, 3)


@pytest.fixture
def structure() -> Structure:
    both = np.array(PAIRS + [(b, a) for a, b in PAIRS]).T
    return Structure(both, np.array([0, 0, 0, 0, 0, 1, 0] * 2), 8)


def one_way(scores: np.ndarray) -> list[float]:
    """The scores of the first direction, after checking that the other one has the same."""
    first, second = np.split(scores, 2)
    assert np.array_equal(first, second)
    return first.tolist()


def test_on_short_path_marks_edges_of_paths_up_to_three(structure: Structure) -> None:
    assert one_way(on_short_path(structure, ENDS)) == [1, 1, 1, 1, 1, 0, 0]
    assert one_way(on_short_path(structure, (0,))) == [0] * 7


def test_low_degree_path_prefers_paths_through_low_degrees(structure: Structure) -> None:
    scores = one_way(low_degree_path(structure, ENDS))
    assert scores[0] == scores[1] == pytest.approx(-np.log(3))
    assert scores[2] == scores[3] == scores[4] == pytest.approx(-2 * np.log(2))
    assert max(scores[5:]) < min(scores[:5])


def test_near_the_ends_counts_hops(structure: Structure) -> None:
    assert one_way(near_the_ends(structure, ENDS))[:6] == [0, 0, 0, -1, 0, -1]
    assert near_the_ends(structure, ENDS)[6] == -np.inf


def test_low_degree_and_rare_type_ignore_the_ends(structure: Structure) -> None:
    assert one_way(low_degree(structure, ENDS))[6] == 0
    assert one_way(rare_type(structure, ENDS)) == [-12] * 5 + [-2, -12]


def test_in_edges_are_those_that_a_model_reads(structure: Structure) -> None:
    read = structure.edge_index[:, structure.in_edges(ENDS, hops=1)]
    assert set(read[1].tolist()) == set(ENDS)
    two = structure.edge_index[:, structure.in_edges(ENDS, hops=2)]
    assert set(map(tuple, two.T.tolist())) >= {(5, 1), (4, 2), (2, 4)}
    assert 7 not in two


@pytest.mark.parametrize(("name", "hops"), [("Typed-Motifs", 2), ("Two-Ways", 2), ("SBM-Links", 1)])
def test_rule_aucs_of_generated_sets_stay_below_the_bound(name: str, hops: int) -> None:
    """All predictions give the same to 0.02; these are the first 80, to be quick."""
    found = rule_aucs(datasets.generate(name), hops, limit=80)
    assert set(found) == set(RULES)
    assert all(0.35 < value < 0.65 for value in found.values()), found
