"""Notes: an explanation that is not both enough and needed says so."""

from __future__ import annotations

import pytest
import torch

from eigsearch.explanation.notes import note_on_gain, note_on_ties
from eigsearch.inference.target import Target
from eigsearch.ranking.ranking import rank
from eigsearch.search import Curve


def curve(*values: tuple[float, float], full: float = 0.99) -> Curve:
    """Return a curve with these probabilities, kept alone and removed."""
    kept, removed = torch.tensor(values, dtype=torch.float64).logit(eps=1e-9).t()
    sizes = torch.arange(2, 2 + len(values))
    phi = torch.tensor(full, dtype=torch.float64).logit()
    return Curve.of(Target("multiclass_classification", "raw", 0), phi, sizes, kept, removed)


def note(found: tuple[float, float], *others: tuple[float, float], search: str = "sweep") -> str:
    return note_on_gain(curve(found), curve(found, *others), "multiclass_classification", search)


@pytest.mark.parametrize(
    ("found", "others", "words"),
    [
        ((0.99, 0.05), [], ""),
        (
            (0.99, 0.98),
            [(0.99, 0.3)],
            "both enough and needed (gain 0.01): this one is enough but not needed",
        ),
        (
            (0.2, 0.1),
            [],
            "at most 2 edges is both enough and needed (gain 0.10): this one is not enough alone",
        ),
        ((0.97, 0.8), [], "is both enough and needed (gain 0.17): this one is only partly needed"),
        ((0.99, 0.985), [(0.99, 0.97)], "stays whatever is removed (up to 3 edges)"),
    ],
)
def test_note_on_gain_names_the_half_that_fails(
    found: tuple[float, float], others: list[tuple[float, float]], words: str
) -> None:
    said = note(found, *others)
    assert words in said
    assert bool(said) == bool(words)


def test_note_on_gain_of_a_class_that_is_not_predicted_says_that_there_is_little_to_lose() -> None:
    """Such a class stays improbable too, but not because it needs no evidence."""
    found = curve((0.01, 0.0), full=0.02)
    said = note_on_gain(found, found, "multiclass_classification", "sweep")
    assert "a probability of 0.02 with all edges" in said
    assert "without evidence" not in said


@pytest.mark.parametrize(
    ("above", "said"), [(None, "is closer to the value than"), (1.0, "gives a higher value than")]
)
def test_note_on_gain_of_a_regression_says_what_counts(above: float | None, said: str) -> None:
    value = torch.tensor(2.0, dtype=torch.float64)
    kept, removed = torch.tensor([[1.1], [2.5]], dtype=torch.float64)
    target = Target("regression", "raw", 0, above=above)
    found = Curve.of(target, value, torch.tensor([2]), kept, removed)
    note = note_on_gain(found, found, "regression", "sweep", above=above)
    assert said in note
    assert f"(gain −{-float(found.gain):.2g})" in note


def test_note_on_gain_advises_a_deeper_search_only_where_there_is_one() -> None:
    assert note((0.2, 0.1)).endswith("; search='refine' looks further.")
    assert "search=" not in note((0.2, 0.1), search="refine")


@pytest.mark.parametrize("search", ["sweep", "refine"])
@pytest.mark.parametrize(("score", "size"), [((0, 0, 0), 2), ((0, 0, 0), 3), ((0, 0, 1), 2)])
def test_note_on_ties_says_that_the_numbering_chose(
    score: tuple[int, ...], size: int, search: str
) -> None:
    """A search beyond the ranking compares subgraphs by what the model says of them."""
    ranking = rank(torch.tensor(score))
    said = note_on_ties(ranking, ranking.keep(size), search)
    assert bool(said) == (search == "sweep" and score == (0, 0, 0) and size == 2)
