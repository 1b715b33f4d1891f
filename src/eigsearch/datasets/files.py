"""Graphs in a file: any list of PyG `Data` that was written with `torch.save`, read safely."""

import os
import pickle
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from torch_geometric.data import Data
from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
from torch_geometric.data.storage import GlobalStorage

from eigsearch.datasets.dataset import GraphDataset, Task
from eigsearch.errors import InputError

# What a saved `Data` consists of. Nothing else in a file is ever built, whoever wrote it.
_SAFE: list[Any] = [Data, DataEdgeAttr, DataTensorAttr, GlobalStorage]


def save_file(graphs: Iterable[Data], path: str | Path) -> None:
    """Write graphs so that `load_file` reads them; a crash leaves the old file as it was."""
    path = Path(path)
    handle, aside = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "wb") as stream:
            torch.save(list(graphs), stream)
        os.replace(aside, path)
    except BaseException:
        os.unlink(aside)
        raise


def load_file(path: str | Path, task: Task | None = None) -> GraphDataset:
    """Return the graphs of a file that holds one PyG `Data` or a list of them.

    Nothing in the file is executed. Without `task`, one graph with a class for each of its nodes is
    a node set, and all else a set of graphs.
    """
    path = Path(path)
    graphs = _checked(_read(path), path)
    classes = _num_classes(graphs)
    return GraphDataset(
        name=path.stem,
        task=task or _task(graphs),
        graphs=graphs,
        num_classes=classes,
        class_names=tuple(str(number) for number in range(classes)),
        description=f"{len(graphs)} graphs of {path.name}",
        citation="",
        provenance=f"file {path.name}",
    )


def _read(path: Path) -> Any:
    try:
        with torch.serialization.safe_globals(_not_yet_safe()):
            return torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError as error:
        raise InputError(
            f"Expected the data file to exist (got {path}). Check the path."
        ) from error
    except pickle.UnpicklingError as error:
        raise InputError(
            f"Expected {path} to hold only PyG graphs and tensors (got something that could run "
            "code when it is read). Save a list of `torch_geometric.data.Data` with "
            "`eigsearch.datasets.save_file`."
        ) from error
    except Exception as error:  # torch's readers raise whatever a broken file leads them to
        raise InputError(
            f"Expected {path} to be a file written by `torch.save` (got {type(error).__name__}). "
            "Save a list of `torch_geometric.data.Data` with `eigsearch.datasets.save_file`."
        ) from error


def _not_yet_safe() -> list[Any]:
    """Return the classes to allow for a moment; torch would forget PyG's own ones afterwards."""
    known = torch.serialization.get_safe_globals()
    return [kind for kind in _SAFE if kind not in known]


def _checked(content: Any, path: Path) -> tuple[Data, ...]:
    """Return the graphs after making sure that they are graphs."""
    graphs = tuple(content) if isinstance(content, list | tuple) else (content,)
    if not graphs:
        raise InputError(f"Expected {path} to hold at least one graph (got none). Save some in it.")
    for number, graph in enumerate(graphs):
        fault = _fault(graph)
        if fault:
            raise InputError(
                f"Expected graph {number} of {path} to be {fault}. Save it again after a call of "
                "its `validate()`."
            )
    return graphs


def _fault(graph: Any) -> str | None:
    """Return what the graph should have been and is not, or None."""
    if not isinstance(graph, Data):
        return f"a PyG `Data` (got {type(graph).__name__})"
    edges = graph.get("edge_index")
    if not isinstance(edges, torch.Tensor) or edges.dtype != torch.long or edges.dim() != 2:
        return "a graph with a long `edge_index` [2, E] (got none)"
    if edges.size(0) != 2:
        return f"a graph with an `edge_index` of two rows (got {edges.size(0)})"
    if edges.numel() and not 0 <= int(edges.min()) <= int(edges.max()) < (graph.num_nodes or 0):
        return f"a graph whose edges join its {graph.num_nodes} nodes (got node {int(edges.max())})"
    return None


def _task(graphs: tuple[Data, ...]) -> Task:
    y = graphs[0].get("y")
    per_node = y is not None and y.dim() == 1 and len(y) == graphs[0].num_nodes > 1
    return "node" if len(graphs) == 1 and per_node else "graph"


def _num_classes(graphs: tuple[Data, ...]) -> int:
    """Return one more than the largest class, or 0 if the graphs have no classes."""
    labels = [graph.y for graph in graphs if graph.get("y") is not None]
    whole = all(not y.is_floating_point() and y.numel() for y in labels)
    return 1 + max(int(y.max()) for y in labels) if labels and whole else 0
