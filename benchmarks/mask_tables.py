"""The tables of the page about soft masks, made from committed rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd

from eigsearch.bench.report.figure import Table

_ROOT = Path(__file__).parents[1]
_ROWS = _ROOT / "benchmarks" / "results" / "soft_masks"
PAGE = _ROOT / "docs" / "design" / "soft-masks.md"

_LEARNED = {
    "dataset": "data set",
    "weights": "weights",
    "seed": "seed",
    "auc": "AUC",
    "with_norms": "with ‖z‖",
    "mean_mask": "mean mask",
    "masked": "−log p, masked",
    "all_edges": "all edges",
    "motif_alone": "motif alone",
}


def _markdown(frame: pd.DataFrame, headings: Mapping[str, str]) -> str:
    shown = frame[list(headings)].rename(columns=dict(headings))
    return Table(shown, digits=2).markdown().rstrip()


def nodes() -> str:
    """Return what PGExplainer learns on node sets, by the weights of its loss."""
    return _markdown(pd.read_csv(_ROWS / "nodes.csv"), _LEARNED)


def levels() -> str:
    """Return −log p along a mask that is equal on all edges, and how edges of motifs rank."""
    frame = pd.read_csv(_ROWS / "levels.csv")
    masks = {name: name.replace("_", " ") for name in frame if name.startswith("mask_")}
    return _markdown(frame, {"motif": "motif", **masks, "auc": "AUC of PGExplainer"})


TABLES: dict[str, Callable[[], str]] = {"nodes": nodes, "levels": levels}
