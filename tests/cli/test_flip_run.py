"""`eigsearch explain --flip`, as a user runs it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eigsearch import store
from eigsearch.counterfactual.explanation import FlipExplanation

BA = ("explain", "--dataset", "BA-2Motifs", "--model", "gcn", "--index", "0:3", "--flip")


def test_flip_prints_what_changes_each_prediction(run: Callable[..., Any]) -> None:
    printed = run(*BA).stdout
    assert "3 of 3 predictions flipped, by 1.0 edges on average." in printed
    assert "and the prediction is house" in printed


def test_flip_json_lists_the_removed_edges(run_json: Callable[..., Any]) -> None:
    found = run_json(*BA, "--json")
    assert (found["count"], found["flipped"]) == (3, 3)
    for answer in found["answers"]:
        (u, v), (w, x) = answer["removed"]  # both directions of one edge
        assert (u, v) == (x, w)
        assert answer["prediction_after"] != answer["prediction"]


def test_flip_with_a_directory_writes_rows_that_view_shows(
    run: Callable[..., Any],
    run_json: Callable[..., Any],
    refused: Callable[..., str],
    tmp_path: Path,
) -> None:
    out = tmp_path / "flips"
    asked = (*BA, "--answers", "3", "--add", "--out", str(out))
    first = run_json(*asked, "--json")
    again = run_json(*asked, "--json")  # nothing is computed twice
    assert first == again
    (answer, *_) = store.read(out)
    assert isinstance(answer, FlipExplanation)
    assert len(answer.others) == len(first["answers"][0]["others"]) == 2
    assert answer.additions > 0
    page = tmp_path / "page.html"
    shown = run("view", str(out), "--out", str(page)).stdout
    assert "2 other answers." in shown
    assert "the prediction is" in page.read_text()
    assert "another one: option a" in refused(*BA, "--out", str(out))


REFUSED = {
    ("--flip", "--above", "3"): "--flip without --above",
    ("--flip", "--sparsity", "0.7"): "--flip without --sparsity",
    ("--flip", "--search", "sweep"): "greedy, exhaustive",
    ("--to", "1"): "--to together with --flip",
}


@pytest.mark.parametrize("flags", REFUSED, ids=" ".join)
def test_flip_refuses_in_a_sentence(refused: Callable[..., str], flags: tuple[str, ...]) -> None:
    assert REFUSED[flags] in refused(*BA[:-1], *flags)
