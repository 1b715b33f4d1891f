"""Graphs stored as columns: one flat tensor per attribute, sliced for each graph."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad
from torch_geometric.data import Data, HeteroData

from eigsearch.errors import InputError

Kind = tuple[str, bool, torch.dtype, int]  # name, whether it is text, type, number of dimensions


@dataclass(frozen=True, eq=False)
class Column:
    """The values of an attribute that share type and dimensions, of all graphs that have one.

    Attributes:
        name: The attribute.
        is_text: Whether values are JSON, for what is no tensor: names, numbers, lists of them.
        values: All values, flat, in the order of the graphs.
        shapes: A row for each graph: 1 and the shape of its value, or only zeros if it has none.
    """

    name: str
    is_text: bool
    values: Tensor
    shapes: Tensor

    @cached_property
    def rows(self) -> np.ndarray:
        """The shapes as an array, of which a single row is read faster than of a tensor."""
        return self.shapes.numpy()

    @cached_property
    def bounds(self) -> np.ndarray:
        """The offset of each graph's value, and the end of the last one."""
        return pad(self.shapes.prod(dim=1).cumsum(dim=0), (1, 0)).numpy()

    def value(self, number: int) -> Any:
        """Return the value of a graph as a view of the column, or None if it has none."""
        has, *shape = self.rows[number].tolist()
        if not has:
            return None
        first = self.values.storage_offset() + self.bounds.item(number)
        value = self.values.as_strided(shape, _row_major(shape), first)  # one call, not two
        return json.loads(value.numpy().tobytes()) if self.is_text else value


def _row_major(shape: Sequence[int]) -> list[int]:
    """Return the strides of a contiguous tensor.

    >>> _row_major([2, 3, 4])
    [12, 4, 1]
    """
    strides = [1] * len(shape)
    for dim in range(len(shape) - 1, 0, -1):
        strides[dim - 1] = strides[dim] * shape[dim]
    return strides


class Columns(Sequence[Data]):
    """A sequence of graphs that are built from columns on access."""

    def __init__(self, columns: Sequence[Column], length: int) -> None:
        self.columns, self._length = columns, length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, number: Any) -> Any:
        """Return one graph by its number."""
        if not 0 <= number < self._length:
            raise IndexError(number)
        data = Data()
        store = data.stores[0]  # `data[name] = value` takes twice as long
        try:
            for column in self.columns:
                if (value := column.value(number)) is not None:
                    store[column.name] = value
        except (ValueError, RuntimeError) as error:
            raise InputError(
                f"Expected graph {number} of its file to be readable (got {type(error).__name__}). "
                "Write the file again."
            ) from error
        return data


def to_columns(graphs: Sequence[Data]) -> Columns:
    """Return graphs as columns; raise InputError if a value would not round-trip."""
    parts: dict[Kind, tuple[list[int], list[Tensor]]] = defaultdict(lambda: ([], []))
    for number, graph in enumerate(graphs):
        if type(graph) is not Data:
            made = "Make it one: Data.from_dict(graph.to_dict())."
            typed = isinstance(graph, HeteroData)
            raise InputError(
                f"Expected graph {number} to be a PyG `Data` (got {type(graph).__name__}). "
                f"{'Save typed graphs in a file that ends in .pt.' if typed else made}"
            )
        for name, value in graph.to_dict().items():
            is_text = not is_plain_tensor(value)
            tensor = _as_text(name, number, value) if is_text else value
            numbers, tensors = parts[name, is_text, tensor.dtype, tensor.dim()]
            numbers.append(number)
            tensors.append(tensor)
    columns = [_column(kind, *part, len(graphs)) for kind, part in parts.items()]
    return Columns(columns, len(graphs))


def _column(kind: Kind, numbers: list[int], tensors: list[Tensor], count: int) -> Column:
    name, is_text, _, dims = kind
    shapes = np.zeros((count, 1 + dims), dtype=np.int64)
    shapes[numbers] = [(1, *tensor.shape) for tensor in tensors]
    values = torch.cat([tensor.flatten() for tensor in tensors])
    return Column(name, is_text, values, torch.from_numpy(shapes))


def is_plain_tensor(value: Any) -> bool:
    """Return whether a value is a dense CPU tensor without gradient, subclass or layout."""
    return (
        type(value) is Tensor
        and value.is_cpu
        and value.layout is torch.strided
        and not value.requires_grad
    )


def _as_text(name: str, number: int, value: Any) -> Tensor:
    """Return a value that JSON preserves as its bytes."""
    try:
        text = json.dumps(value)
        if repr(json.loads(text)) == repr(value):
            return torch.frombuffer(bytearray(text.encode()), dtype=torch.uint8)
    except (TypeError, ValueError):
        pass
    raise InputError(
        f"Expected `{name}` of graph {number} to be a dense tensor, a number, a text, or lists of "
        f"them (got {type(value).__name__}). Convert it, or remove it with `del data.{name}`."
    )
