"""The published numbers, to stand beside ours."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


@cache
def published() -> pd.DataFrame:
    """Return the values printed by Lu et al. (2024): figures by sparsity, tables without.

    Columns are metric, dataset, model, explainer, sparsity, value.
    """
    import pandas as pd

    frame = pd.read_csv(Path(__file__).with_name("published.csv"))
    frame["setting"] = frame["dataset"] + " " + frame["model"].fillna("").str.upper()
    return frame


def published_line(metric: str, setting: str, explainer: str) -> pd.DataFrame:
    """Return the published points of a method in one panel, by sparsity; often none."""
    frame = published()
    chosen = (frame["metric"] == metric) & (frame["setting"] == setting)
    return frame[chosen & (frame["explainer"] == explainer)].sort_values("sparsity")


def published_value(metric: str, dataset: str, explainer: str) -> float | None:
    """Return a value of the published tables, or None where none was printed."""
    frame = published()
    chosen = (frame["metric"] == metric) & (frame["dataset"] == dataset)
    values = frame[chosen & (frame["explainer"] == explainer)]["value"]
    return float(values.iloc[0]) if len(values) else None
