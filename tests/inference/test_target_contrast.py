"""Contrastive targets: a class rather than another, a value above a threshold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import eigsearch
from eigsearch.errors import InputError
from eigsearch.inference.target import Target, contrast_target
from tests.search.brute import Net, chosen_edges, probability, random_graph, undirected

OUTPUT = torch.tensor([[1.0, 3.0, -2.0], [0.5, 0.0, 4.0]])


@pytest.mark.parametrize("return_type", ["raw", "log_probs", "probs"])
def test_phi_rather_than_is_the_log_ratio_of_two_probabilities(return_type: Any) -> None:
    probs = OUTPUT.double().softmax(1)
    outputs = {"raw": OUTPUT.double(), "log_probs": probs.log(), "probs": probs}
    target = Target("multiclass_classification", return_type, 2, rather_than=0)
    expected = probs[:, 2].log() - probs[:, 0].log()
    torch.testing.assert_close(target.phi(outputs[return_type]), expected)
    share = probs[:, 2] / (probs[:, 2] + probs[:, 0])
    torch.testing.assert_close(target.value(target.phi(outputs[return_type])), share)


@pytest.mark.parametrize("engine", ["batched", "incremental"])
def test_explain_rather_than_reports_the_share_of_two_classes(engine: str) -> None:
    model, data = Net(5, outputs=3), random_graph(5)

    def share(edges: list[tuple[int, int]]) -> float:
        a, b = (probability(model, data, edges, target) for target in (2, 0))
        return a / (a + b)

    found = eigsearch.explain(model, data, target=2, rather_than=0, engine=engine)
    edges, chosen = undirected(data), chosen_edges(data, found.edge_mask)
    assert found.value == pytest.approx(share(edges), abs=1e-5)
    kept = share([edge for edge in edges if edge in chosen])
    removed = share([edge for edge in edges if edge not in chosen])
    assert found.gain == pytest.approx(kept - removed, abs=1e-5)
    assert "P(class 2 rather than 0)" in found.sentence()


def test_explain_above_counts_only_what_holds_the_value_up() -> None:
    model, data = Net(7, outputs=1), random_graph(7)
    value = eigsearch.explain(model, data, task="regression").value
    found = eigsearch.explain(model, data, task="regression", above=value - 1, search="exhaustive")
    assert found.value == pytest.approx(value)
    kept, removed = float(found.found.kept), float(found.found.removed)
    assert found.gain == pytest.approx(kept - removed)
    assert found.fidelity_plus == pytest.approx(value - removed)


REFUSED: dict[str, tuple[Target, int, dict[str, Any], str]] = {
    "itself": (Target("multiclass_classification", "raw", 1), 3, {"rather_than": 1}, "other than"),
    "no class": (Target("multiclass_classification", "raw", 1), 3, {"rather_than": 3}, "0 to 2"),
    "labels": (Target("binary_classification", "raw", 1), 3, {"rather_than": 0}, "several labels"),
    "regression": (Target("regression", "raw", 0), 1, {"rather_than": 0}, "`above`"),
    "above a class": (Target("multiclass_classification", "raw", 0), 2, {"above": 1.0}, "regress"),
    "not above": (Target("regression", "raw", 0), 1, {"above": 5.0}, "above 5.0"),
    "just as high": (Target("regression", "raw", 0), 1, {"above": 1.0}, "above 1.0"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_contrast_target_without_a_contrast_raises(name: str) -> None:
    target, columns, contrast, match = REFUSED[name]
    with pytest.raises(InputError, match=match):
        contrast_target(target, 1.0, columns, **{"rather_than": None, "above": None, **contrast})


def test_contrast_target_two_classes_in_one_column_is_the_plain_one() -> None:
    target = Target("binary_classification", "raw", 1)
    assert contrast_target(target, 1, 1, 0, None) == target


@pytest.mark.parametrize("other", [True, np.int64(1), torch.tensor([1]), 1.0])
def test_explain_rather_than_of_any_kind_is_the_class(other: Any, tmp_path: Path) -> None:
    found = eigsearch.explain(Net(5, outputs=3), random_graph(5), target=2, rather_than=other)
    assert found.sentence().startswith("P(class 2 rather than 1) = ")
    found.save(tmp_path / "explanation.json")


@pytest.mark.parametrize(
    ("option", "value"),
    [("rather_than", "1"), ("rather_than", 1.5), ("above", "5"), ("above", float("nan"))],
)
def test_explain_contrast_with_no_number_is_refused_in_a_sentence(option: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"Expected `{option}` to be (the|a) number"):
        eigsearch.explain(Net(5, outputs=3), random_graph(5), **{option: value})
