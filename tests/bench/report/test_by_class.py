"""Gains by class: only where several classes are explained, and under equal search."""

from __future__ import annotations

import pandas as pd
import pytest

from eigsearch.bench.report.by_class import class_frame, class_items

ROW = {
    **{"section": "fidelity", "status": "ok", "setting": "BA-2Motifs GIN", "limit": 0.7},
    **{"explainer": "eig_search", "search": "sweep", "seed": 0, "target": 0, "gain": 0.2},
    **{"auc": 0.6},
}


def _frame(*rows: dict[str, object]) -> pd.DataFrame:
    return pd.DataFrame([ROW | row for row in rows])


def test_class_frame_means_are_per_class_and_of_the_sweep() -> None:
    frame = _frame(
        {"gain": 0.1},
        {"gain": 0.3},
        {"target": 1, "gain": 0.9},
        {"target": 1, "gain": -5.0, "search": "fixed"},
        {"target": 1, "gain": -5.0, "limit": 0.5},
    )
    (row,) = class_frame(frame).to_dict("records")
    assert row["gain, class 0"] == pytest.approx(0.2)
    assert row["gain, class 1"] == pytest.approx(0.9)
    assert row["AUC, class 1"] == pytest.approx(0.6)


def test_class_items_of_one_class_are_none() -> None:
    other = {"setting": "MUTAG GCN", "target": 1}
    assert class_items(_frame({}, other, other)) == []
    (item,) = class_items(_frame({}, {"target": 1}))
    assert "limit 0.7" in item.text
