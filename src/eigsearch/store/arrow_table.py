"""Convert rows to an Arrow table, one concatenated tensor per column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from eigsearch.store.rows import Row


def to_table(rows: Sequence[Row], schema: pa.Schema) -> pa.Table:
    """Return rows as a table, with null for what a row lacks."""
    columns = [_column([row.get(f.name) for row in rows], f.type) for f in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def _column(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Return one value per row as an array; a list of structs is a dict of its fields."""
    if not pa.types.is_list(kind):
        return pa.array(values, type=kind)
    present = [value for value in values if value is not None]
    missing = np.array([value is None for value in values], bool)
    if pa.types.is_struct(kind.value_type):
        members = _structs(present, kind.value_type)
        counts = [len(next(iter(fields.values()))) for fields in present]
    else:
        members = _concatenated(present, kind.value_type)
        counts = [len(value) for value in present]
    length = np.zeros(len(values), np.int32)
    length[~missing] = counts
    ends = np.concatenate([[0], np.cumsum(length)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(ends), members, type=kind, mask=pa.array(missing))


def _structs(values: Sequence[dict[str, Any]], kind: pa.StructType) -> pa.StructArray:
    """Return the concatenated entries of values that are dicts of columns."""
    fields = [kind.field(number) for number in range(kind.num_fields)]
    columns = [
        _concatenated([value[field.name] for value in values], field.type) for field in fields
    ]
    return pa.StructArray.from_arrays(columns, fields=fields)


def _concatenated(parts: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Return several tensors, or lists, as one array."""
    if parts and isinstance(parts[0], Tensor):
        return pa.array(torch.cat(list(parts)).cpu().numpy(), type=kind)
    return _column([entry for part in parts for entry in part], kind)
