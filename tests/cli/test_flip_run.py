"""`eigsearch explain --flip`, as a user runs it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

BA = ("explain", "--dataset", "BA-2Motifs", "--model", "gcn", "--index", "0:3", "--flip")


def test_flip_prints_what_changes_each_prediction(run: Callable[..., Any]) -> None:
    printed = run(*BA).stdout
    assert "3 of 3 predictions flipped, by 1.0 edges on average." in printed
    assert "and the prediction is class" in printed


def test_flip_json_lists_the_removed_edges(run_json: Callable[..., Any]) -> None:
    found = run_json(*BA, "--json")
    assert (found["count"], found["flipped"]) == (3, 3)
    for answer in found["answers"]:
        (u, v), (w, x) = answer["removed"]  # both directions of one edge
        assert (u, v) == (x, w)
        assert answer["prediction_after"] != answer["prediction"]


def test_flip_with_a_directory_is_refused(refused: Callable[..., str]) -> None:
    assert "--flip without --out" in refused(*BA, "--out", "results")
