"""What a search does not see is averaged over the predictions for which it is known."""

from __future__ import annotations

import pandas as pd
import pytest

from eigsearch.bench.report.search_side_effects import side_effect_frame, side_effect_items

ROW = {
    **{"section": "drift", "status": "ok", "setting": "MUTAG GCN", "search": "refine", "seed": 0},
    **{"limit": 0.7, "pooled": False, "gain": 0.5, "robust_gain": 0.1, "sparsity": 0.8},
    **{"precision": 0.5, "recall": 1.0, "noise_stability": 0.9, "relabelling_stability": 1.0},
}
NONE = {"precision": 0.0, "recall": None}  # no edge is known to matter


def _frame(*rows: dict[str, object]) -> pd.DataFrame:
    return pd.DataFrame([ROW | row for row in rows])


def test_means_are_over_what_is_known_and_pooled_rows_do_not_count() -> None:
    nothing = {"precision": 0.0, "recall": 0.0}
    frame = _frame({}, NONE | {"gain": 0.7}, nothing, {"pooled": True, "gain": 99.0})
    (row,) = side_effect_frame(frame).to_dict("records")
    assert row["gain"] == pytest.approx((0.5 + 0.7 + 0.5) / 3)
    assert row["precision"] == pytest.approx(0.25)
    assert row["F1"] == pytest.approx((2 / 3 + 0) / 2)


def test_the_report_shows_drift_where_it_was_measured() -> None:
    (item,) = side_effect_items(_frame({}, {"search": "sweep"}))
    assert item.table is not None
    assert list(item.table.frame["search"]) == ["refine", "sweep"]
    assert "limit 0.7" in item.text
    assert side_effect_items(_frame({"section": "fidelity"})) == []
