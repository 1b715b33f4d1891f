"""Read a column of labels: classes by number or name, or values of a regression."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import torch
from torch import Tensor

from eigsearch.errors import InputError

MOST_CLASSES = 20  # different whole numbers up to which a column holds classes


@dataclass(frozen=True)
class Labels:
    """The labels of molecules.

    Attributes:
        column: The name of their column.
        values: A class or a value for each molecule; None where it is missing.
        class_names: The name of each class; empty for values of a regression.
    """

    column: str
    values: list[float | int | None]
    class_names: tuple[str, ...] = ()

    @property
    def about(self) -> str:
        """What was read, in a few words."""
        if not self.class_names:
            return f"values of {self.column!r}"
        return f"classes {', '.join(self.class_names)} of {self.column!r}"

    def y(self, index: int) -> Tensor | None:
        """Return the label of one molecule as PyG data sets have it."""
        value = self.values[index]
        return None if value is None else torch.tensor([value])


def read_labels(column: str, values: pa.ChunkedArray) -> Labels:
    """Return the labels in a column.

    Texts, booleans and few different whole numbers are classes, other numbers values. Numbers
    such as 0.0 and 1.0 are classes too: a missing entry turns whole numbers into those.

    >>> read_labels("active", pa.chunked_array([["no", "yes", None]]))
    Labels(column='active', values=[0, 1, None], class_names=('no', 'yes'))
    >>> read_labels("logS", pa.chunked_array([[-2.5, 1.0]])).class_names
    ()

    Raises:
        InputError: If the column holds something else, such as lists.
    """
    try:
        return _labels(column, values)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(
            f"Expected column {column!r} to hold labels: numbers or texts (got {values.type}; "
            f"Arrow says: {str(error).splitlines()[0]}). Choose another column."
        ) from error


def _labels(column: str, values: pa.ChunkedArray) -> Labels:
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if pa.types.is_boolean(values.type):
        return Labels(column, values.cast(pa.int64()).to_pylist(), ("False", "True"))
    if pa.types.is_integer(values.type) or _is_zero_one(values):
        return _numbered(column, values.cast(pa.int64()).to_pylist())
    if pa.types.is_floating(values.type):
        values = pc.if_else(pc.is_nan(values), None, values)
        return Labels(column, values.to_pylist())
    texts = values.cast(pa.string()).to_pylist()
    names = tuple(sorted({text for text in texts if text is not None}))
    number = {name: place for place, name in enumerate(names)}
    return Labels(column, [None if text is None else number[text] for text in texts], names)


def _is_zero_one(values: pa.ChunkedArray) -> bool:
    if not pa.types.is_floating(values.type):
        return False
    present = set(pc.unique(values.drop_null()).to_pylist())
    return bool(present) and present <= {0.0, 1.0}


def _numbered(column: str, values: list[int | None]) -> Labels:
    present = {value for value in values if value is not None}
    if (
        not present
        or len(present) > MOST_CLASSES
        or min(present) < 0
        or max(present) > MOST_CLASSES
    ):
        return Labels(column, [None if value is None else float(value) for value in values])
    return Labels(column, [*values], tuple(str(number) for number in range(max(present) + 1)))
