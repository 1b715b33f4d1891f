"""Rows as the columns of a table, joined tensor by tensor instead of value by value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from eigsearch.store.rows import Row


def to_table(rows: Sequence[Row], schema: pa.Schema) -> pa.Table:
    """Return rows as a table; what a row lacks is null."""
    columns = [_column([row.get(f.name) for row in rows], f.type) for f in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def _column(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Return one value per row; a list of structs comes as a dict of its fields."""
    if not pa.types.is_list(kind):
        return pa.array(values, type=kind)
    there = [value for value in values if value is not None]
    missing = np.array([value is None for value in values], bool)
    if pa.types.is_struct(kind.value_type):
        members = _structs(there, kind.value_type)
        counts = [len(next(iter(fields.values()))) for fields in there]
    else:
        members = _joined(there, kind.value_type)
        counts = [len(value) for value in there]
    length = np.zeros(len(values), np.int32)
    length[~missing] = counts
    ends = np.concatenate([[0], np.cumsum(length)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(ends), members, type=kind, mask=pa.array(missing))


def _structs(values: Sequence[dict[str, Any]], kind: pa.StructType) -> pa.StructArray:
    """Return the entries of all values, each a dict of columns."""
    fields = [kind.field(place) for place in range(kind.num_fields)]
    columns = [_joined([value[field.name] for value in values], field.type) for field in fields]
    return pa.StructArray.from_arrays(columns, fields=fields)


def _joined(parts: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Return what several tensors, or lists, hold as one array."""
    if parts and isinstance(parts[0], Tensor):
        return pa.array(torch.cat(list(parts)).cpu().numpy(), type=kind)
    return _column([entry for part in parts for entry in part], kind)
