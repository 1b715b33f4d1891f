"""Infer from labels whether a task is a regression or a kind of classification."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from eigsearch._utils.tolerances import PROBABILITY

LabelKind = Literal["continuous", "binary", "multi_hot", "one_each", "no_classes", "unknown"]

_MANY = 8  # from this many rows on, rows with a single 1 are taken for one-hot classes


def label_kind(labels: Sequence[Any], columns: int) -> LabelKind:
    """Return the kind of the labels `y` of a run, given the number of output columns.

    `"continuous"` are numbers to regress, `"binary"` is 0 or 1 for one output, `"multi_hot"` is 0
    or 1 for each of several outputs, with rows that are no single class; `"one_each"` are a few
    rows of which each may be a class or several labels. `"no_classes"` do not fit several outputs:
    fractions, numbers that no class has, rows of another width. Missing labels (None, NaN) tell
    nothing, nor do classes.
    """
    rows = [row for label in labels if (row := _rows(label, columns)) is not None]
    widths = {row.size(1) for row in rows}
    if not rows:
        return "unknown"
    if widths - {1, columns}:
        return "no_classes" if columns > 1 else "unknown"
    dtypes = {row.dtype for row in rows}
    # NumPy takes a third of the time for a few numbers.
    values = np.concatenate([row.double().numpy().reshape(-1, max(widths)) for row in rows])
    if columns == 1:
        return _one_column(values, dtypes)
    return _columns(values) if widths == {columns} else _numbers(values, columns)


def _rows(label: Any, columns: int) -> Tensor | None:
    """Return a label as rows, of one number or as wide as it is; None where it is no numbers."""
    label = _as_tensor(label)
    if label is None or label.is_complex() or label.numel() == 0 or label.dim() > 2:
        return None
    label = label.detach().cpu()
    if label.dim() == 1 and label.numel() == columns and label.is_floating_point():
        return label[None]
    return label.reshape(-1, 1) if label.dim() < 2 else label


def _as_tensor(label: Any) -> Tensor | None:
    """Return a label as a tensor, a list of numbers as one row of them; None where it is none."""
    if isinstance(label, Tensor):
        return label
    try:
        found = torch.as_tensor(label)
    except (TypeError, ValueError, RuntimeError):  # None, a text, a ragged list
        return None
    return found[None] if found.dim() == 1 and found.numel() > 1 else found


def _numbers(values: np.ndarray, columns: int) -> LabelKind:
    """Return whether numbers can be classes of so many outputs, counted from 0 or from 1."""
    known = values[~np.isnan(values)]
    if not known.size:
        return "unknown"
    last = columns - int((known == 0).any())
    fits = (known == known.round()).all() and known.max() <= last
    return "unknown" if fits else "no_classes"


def _one_column(values: np.ndarray, dtypes: set[torch.dtype]) -> LabelKind:
    known = np.unique(values[~np.isnan(values)]).tolist()
    if not known:
        return "unknown"
    if known[0] == -1 and set(known) <= {-1.0, 0.0, 1.0}:
        return "unknown"  # classes to a hinge loss, classes of which some are missing, or measured
    if not set(known) <= {0.0, 1.0}:
        return "continuous"
    # A single 1.0 may be a class or a measured value; 0.0 and 1.0 and nothing else are classes.
    floating = any(dtype.is_floating_point for dtype in dtypes)
    return "binary" if len(known) == 2 or not floating else "unknown"


def _columns(values: np.ndarray) -> LabelKind:
    values = values[~np.isnan(values).all(axis=1)]
    known = values[~np.isnan(values)]
    if not known.size:
        return "unknown"
    if not ((known == 0) | (known == 1)).all():
        return "unknown" if _are_distributions(values) else "continuous"
    if known.size < values.size or (values.sum(axis=1) != 1).any():
        return "multi_hot"
    return "unknown" if len(values) >= _MANY else "one_each"


def _are_distributions(values: np.ndarray) -> bool:
    """Return whether each row is a distribution over classes, as distillation gives."""
    near_one = np.abs(values.sum(axis=1) - 1) < PROBABILITY
    return bool((values >= 0).all() and near_one.all())
