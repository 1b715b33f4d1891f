"""Columns of the triage table: filled as rows arrive, filtered and sorted on demand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigsearch.errors import InputError
from eigsearch.store import Row
from eigsearch.store.rows import near_optimal_of

SORTS = ("item", "prediction", "confidence", "label", "correct", "groups", "size", "gain", "sure")
_ANSWERS = "answers"  # how many equally good answers there are, which `sure` is a share of
_CORRECT = {"": None, "right": 1.0, "wrong": 0.0}


@dataclass(frozen=True)
class TableQuery:
    """Which rows are shown, in which order.

    Attributes:
        sort: A column of `SORTS`.
        descending: Whether the largest value comes first; unknown values always come last.
        correct: `"right"`, `"wrong"` or empty for both.
        prediction: Predicted class, or None for all.
        max_confidence: Largest probability of the predicted class.
        max_gain: Largest gain.
        items: Items found by a search or a motif, or None for all.
    """

    sort: str = "item"
    descending: bool = False
    correct: str = ""
    prediction: int | None = None
    max_confidence: float | None = None
    max_gain: float | None = None
    items: Sequence[int] | None = None

    @staticmethod
    def from_params(params: Mapping[str, str], items: Sequence[int] | None = None) -> TableQuery:
        """Return the query in the parameters of an address.

        Raises:
            InputError: If a parameter cannot be read.
        """
        sort, correct = params.get("sort", "item"), params.get("correct", "")
        if sort not in SORTS or correct not in _CORRECT:
            raise InputError(
                f"Expected `sort` to be one of {', '.join(SORTS)} and `correct` to be right or "
                f"wrong (got {sort[:20]!r} and {correct[:20]!r}). Leave them out."
            )
        prediction = _number(params, "prediction")
        return TableQuery(
            sort=sort,
            descending=params.get("descending") == "1",
            correct=correct,
            prediction=None if prediction is None else int(prediction),
            max_confidence=_number(params, "max_confidence"),
            max_gain=_number(params, "max_gain"),
            items=items,
        )


class Table:
    """Numbers of every item of a data set; NaN until its explanation is there.

    Attributes:
        count: Number of items.
        columns: One float array per column of `SORTS`, except for `item`, and the number of
            equally good answers; `sure` is the share of them that contain the explanation.
        failed: Items that could not be explained.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.columns = {name: np.full(count, np.nan) for name in (*SORTS[1:], _ANSWERS)}
        self.failed = np.zeros(count, dtype=bool)
        self.known = np.zeros(count, dtype=bool)

    @property
    def num_known(self) -> int:
        """The number of items whose explanation was tried."""
        return int(self.known.sum())

    def update(self, items: Iterable[int], rows: Iterable[Row], labels: Iterable[float]) -> None:
        """Enter the rows of items, with the label of each (NaN if there is none)."""
        for item, row, label in zip(items, rows, labels, strict=True):
            for name, value in _numbers(row, label).items():
                self.columns[name][item] = np.nan if value is None else value
            self.failed[item] = row["error"] is not None
            self.known[item] = True

    def select(self, query: TableQuery) -> np.ndarray:
        """Return the items of a query, in its order."""
        items = np.arange(self.count) if query.items is None else np.array(query.items, dtype=int)
        items = items[self._mask(query)[items]]
        if query.sort == "item":
            return np.sort(items)[:: -1 if query.descending else 1]
        values = self.columns[query.sort][items]
        keys = -values if query.descending else values
        return items[np.lexsort((items, np.where(np.isnan(values), np.inf, keys)))]

    def entry(self, item: int) -> dict[str, Any]:
        """Return the numbers of one item; None for what is not known."""
        values = {name: float(column[item]) for name, column in self.columns.items()}
        return {
            "item": item,
            "known": bool(self.known[item]),
            "failed": bool(self.failed[item]),
            **{name: None if np.isnan(value) else value for name, value in values.items()},
        }

    def _mask(self, query: TableQuery) -> np.ndarray:
        mask = np.ones(self.count, dtype=bool)
        correct = _CORRECT[query.correct]
        if correct is not None:
            mask &= self.columns["correct"] == correct
        if query.prediction is not None:
            mask &= self.columns["prediction"] == query.prediction
        for name in ("confidence", "gain"):
            limit = getattr(query, f"max_{name}")
            if limit is not None:
                mask &= self.columns[name] <= limit  # NaN compares as False
        return mask


def _numbers(row: Row, label: float) -> dict[str, float | None]:
    if row["error"] is not None:
        return {"label": label}
    regression = row["task"] == "regression"
    judged = not regression and label == label
    return {
        "prediction": row["prediction"],
        "confidence": None if regression else _confidence(row),
        "label": label,
        "correct": float(row["prediction"] == label) if judged else None,
        "groups": row["num_groups"],
        "size": row["size"],
        "gain": row["gain"],
        **_agreement(row),
    }


def _agreement(row: Row) -> dict[str, float | None]:
    near = near_optimal_of(row)
    return {} if near is None else {"sure": near.agreeing / near.count, _ANSWERS: near.count}


def _confidence(row: Row) -> float | None:
    """Return the probability of the predicted class, if that is the explained one."""
    return row["value"] if row["prediction"] == row["target"] else None


def _number(params: Mapping[str, str], name: str) -> float | None:
    text = params.get(name, "")
    if text == "":
        return None
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if value != value or abs(value) > 1e15:
        raise InputError(f"Expected {name} to be a number (got {text[:40]!r}). Leave it out.")
    return value
