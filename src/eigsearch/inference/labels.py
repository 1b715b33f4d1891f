"""What labels tell about a task: continuous, binary, multi-hot, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import torch
from torch import Tensor

from eigsearch._utils.tolerances import PROBABILITY

LabelKind = Literal["continuous", "binary", "multi_hot", "unknown"]


def label_kind(labels: Sequence[Any], columns: int) -> LabelKind:
    """Return what the labels `y` of a run tell about a model with so many output columns.

    `"continuous"` are numbers to regress, `"binary"` is 0 or 1 for one output, `"multi_hot"` is 0
    or 1 for each of several outputs, with rows that are no single class. Missing labels (None,
    NaN) tell nothing, nor do classes.
    """
    rows = [row for label in labels if (row := _rows(label, columns)) is not None]
    if not rows:
        return "unknown"
    dtypes = {row.dtype for row in rows}
    values = torch.cat([row.double() for row in rows])
    return _one_column(values, dtypes) if columns == 1 else _columns(values)


def _rows(label: Any, columns: int) -> Tensor | None:
    """Return a label as rows `[n, columns]`, None where it has another width."""
    if not isinstance(label, Tensor) or label.is_complex() or label.numel() == 0:
        return None
    label = label.detach().cpu()
    if columns == 1:
        flat = label.dim() < 2 or label.size(-1) == 1
        return label.reshape(-1, 1) if flat else None
    if label.dim() == 1 and label.numel() == columns and label.is_floating_point():
        return label[None]
    return label if label.dim() == 2 and label.size(1) == columns else None


def _one_column(values: Tensor, dtypes: set[torch.dtype]) -> LabelKind:
    known = values[~values.isnan()].unique().tolist()
    if not known:
        return "unknown"
    if not set(known) <= {0.0, 1.0}:
        return "continuous"
    # A single 1.0 may be a class or a measured value; 0.0 and 1.0 and nothing else are classes.
    floating = any(dtype.is_floating_point for dtype in dtypes)
    return "binary" if len(known) == 2 or not floating else "unknown"


def _columns(values: Tensor) -> LabelKind:
    known = values[~values.isnan()]
    if not known.numel():
        return "unknown"
    if not bool(((known == 0) | (known == 1)).all()):
        return "unknown" if _are_distributions(values) else "continuous"
    sums = values.nan_to_num().sum(dim=1)
    return "multi_hot" if bool((sums != 1).any()) else "unknown"


def _are_distributions(values: Tensor) -> bool:
    """Return whether each row is a distribution over classes, as distillation gives."""
    near_one = (values.sum(dim=1) - 1).abs() < PROBABILITY
    return bool((values >= 0).all() and near_one.all())
