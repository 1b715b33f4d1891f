"""Points beside the published curve, and what the planted motif gains itself."""

from __future__ import annotations

import pandas as pd
import pytest

from eigsearch.bench.report.published_points import (
    motif_frame,
    motif_reasons,
    point_frame,
    published_items,
)
from eigsearch.bench.rows.published import published_line

ROW = {
    **{"section": "searches", "status": "ok", "setting": "BA-2Motifs GIN", "limit": 0.5},
    **{"explainer": "eig_search", "search": "refine", "seed": 0, "target": 0, "gain": 0.2},
    **{"sparsity": 0.6, "removed": 0.1, "kept": 0.3, "recall": 0.5, "networks": "published"},
}


def _frame(*rows: dict[str, object]) -> pd.DataFrame:
    return pd.DataFrame([ROW | row for row in rows])


def test_point_frame_reads_the_curve_at_the_sparsity_that_was_found() -> None:
    line = published_line("gain", "BA-2Motifs GIN", "eig_search")
    at, printed = line["sparsity"].iloc[1], line["value"].iloc[1]
    unprinted = {"setting": "Mutagenicity GAT"}
    (point,) = point_frame(_frame({"sparsity": at}, unprinted)).to_dict("records")
    assert point["printed"] == pytest.approx(printed)
    assert point["missing"] == pytest.approx(printed - 0.2)


def test_motif_frame_counts_rests_of_another_class_at_the_lowest_limit() -> None:
    motif = {"section": "motif", "kept": 0.9, "removed": 0.8, "gain": 0.1, "limit": None}
    frame = _frame(motif, {}, {"removed": 0.7}, {"removed": 0.0, "limit": 0.9})
    (row,) = motif_frame(frame).to_dict("records")
    assert (row["motif alone"], row["rest without it"]) == (0.9, 0.8)
    assert row["gain of the motif"] == 0.1
    assert row["rest is another class, refine"] == 0.5
    assert row["rest, refine"] == pytest.approx(0.4)
    (reason,) = motif_reasons(frame)
    assert reason.startswith("BA-2Motifs GIN, class 0: without its motif a graph keeps the class")
    assert "another class in 50% of graphs" in reason
    (reason,) = motif_reasons(_frame(motif | {"kept": 0.1, "removed": 0.0}, {}))
    assert "the motif alone does not have the class" in reason
    assert motif_reasons(_frame(motif | {"gain": 0.9}, {})) == []


def test_published_items_say_whose_networks_they_are_of() -> None:
    (points,) = published_items(_frame({}))
    assert "the networks that the paper explains" in points.text
    (points,) = published_items(_frame({"networks": "zoo"}))
    assert "landmark" in points.text
