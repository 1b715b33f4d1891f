"""Read and write graphs as safetensors; a file is memory-mapped and read on access."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file as save_tensors
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.datasets.column_store import Column, Columns, is_plain_tensor, to_columns
from eigsearch.errors import InputError

_COLUMNS = "eigsearch_columns"  # the entry of the header that says what the tensors are
_MAX_NAMES = 9  # listed in the error message


def write_graphs(graphs: Iterable[Data], path: Path) -> None:
    """Write graphs as columns, so that `open_graphs` reads them."""
    columns = to_columns([_detached(graph) for graph in graphs]).columns
    if not columns:
        raise InputError("Expected at least one graph to save (got none). Pass some.")
    header = [{"name": column.name, "is_text": column.is_text} for column in columns]
    tensors: dict[str, Tensor] = {}
    for number, column in enumerate(columns):
        tensors |= {f"{number}.values": column.values, f"{number}.shapes": column.shapes}
    path.touch()
    rights = path.stat().st_mode  # a new file's, which safetensors would keep to its owner
    try:
        save_tensors(tensors, path, {_COLUMNS: json.dumps(header)})
        path.chmod(rights)
    except SafetensorError as error:
        raise OSError(str(error)) from error  # a full disk, as it would be for any other file
    except KeyError as error:
        raise InputError(
            f"Expected tensors of a type that safetensors has (got {error}). Convert them first."
        ) from error


def open_graphs(path: str | Path) -> Sequence[Data]:
    """Return the graphs of a safetensors file, each of them read when it is asked for.

    A file of plain tensors, as safetensors itself writes it, is one graph.
    """
    try:
        with safe_open(path, framework="pt") as file:
            header = (file.metadata() or {}).get(_COLUMNS)
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        columns = None if header is None else _columns(json.loads(header), tensors)
    except FileNotFoundError as error:
        raise InputError(
            f"Expected the data file to exist (got {path}). Check the path."
        ) from error
    except (OSError, SafetensorError, TypeError, ValueError, LookupError, RuntimeError) as error:
        raise InputError(
            f"Expected {path} to hold a graph in safetensors, or many (got {type(error).__name__})."
            " Write it with `eigsearch.datasets.save_file`."
        ) from error
    names = list(tensors) if columns is None else [column.name for column in columns]
    if "edge_index" not in names or any(name.startswith("_") for name in names):
        raise InputError(
            f"Expected {path} to hold an `edge_index` beside other attributes of graphs (got "
            f"{', '.join(names[:_MAX_NAMES]) or 'nothing'}). Write graphs with "
            "`eigsearch.datasets.save_file`."
        )
    return (Data.from_dict(tensors),) if columns is None else Columns(columns, len(columns[0].rows))


def _detached(graph: Data) -> Data:
    """Return a graph without what a file cannot hold: a device, and gradients."""
    detached = copy.copy(graph)
    for name, value in detached.to_dict().items() if isinstance(detached, Data) else ():
        if isinstance(value, Tensor) and not is_plain_tensor(value):
            detached[name] = value.detach().cpu()
    return detached


def _columns(header: Any, tensors: dict[str, Tensor]) -> list[Column]:
    """Return the columns of a file, after making sure that graphs can be cut from them."""
    columns = [
        Column(about["name"], about["is_text"], tensors[f"{n}.values"], tensors[f"{n}.shapes"])
        for n, about in enumerate(header)
    ]
    lengths = {len(column.shapes) for column in columns}
    if len(lengths) != 1 or not all(map(_is_consistent, columns)):
        raise ValueError("Expected the shapes of a file to fit its values.")
    return columns


def _is_consistent(column: Column) -> bool:
    """Return whether the shapes cover all of the values, and nothing else."""
    values, shapes = column.values, column.shapes
    if not (isinstance(column.name, str) and isinstance(column.is_text, bool)):
        return False
    if (values.dim(), shapes.dim(), shapes.dtype) != (1, 2, torch.long) or shapes.numel() == 0:
        return False
    if column.is_text and (values.dtype, shapes.size(1)) != (torch.uint8, 2):
        return False
    small = shapes.double().prod(dim=1).max() <= len(values)  # so that the exact sum is exact
    return bool(shapes.min() >= 0 and shapes[:, 0].max() <= 1 and small) and (
        int(column.bounds[-1]) == len(values)
    )
