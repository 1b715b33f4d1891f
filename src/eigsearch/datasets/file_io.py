"""Read and write files of graphs: safetensors, or `torch.save` without code execution."""

import pickle
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData
from torch_geometric.data.data import BaseData, DataEdgeAttr, DataTensorAttr
from torch_geometric.data.feature_store import TensorAttr
from torch_geometric.data.graph_store import EdgeAttr
from torch_geometric.data.storage import BaseStorage, EdgeStorage, GlobalStorage, NodeStorage

from eigsearch._utils.atomic_files import atomic_path
from eigsearch.datasets.column_store import Columns
from eigsearch.datasets.dataset import GraphDataset, Task
from eigsearch.datasets.safetensors_io import open_graphs, write_graphs
from eigsearch.errors import InputError
from eigsearch.inference.link_input import LINK
from eigsearch.inputs.typed_validation import validate_typed_graph

SAFETENSORS = ".safetensors"
# What saved graphs consist of. Nothing else in a file is ever built, whoever wrote it.
_SAFE: list[Any] = [Data, DataEdgeAttr, DataTensorAttr, GlobalStorage]
_SAFE += [HeteroData, EdgeAttr, TensorAttr, BaseStorage, NodeStorage, EdgeStorage]
_MOST_CLASSES = 100_000  # a larger number is no class, and would be given a name like all below it
_ADVICE = "Save a list of `torch_geometric.data.Data` with `eigsearch.datasets.save_file`."


def save_file(graphs: Iterable[Data], path: str | Path) -> None:
    """Write graphs so that `load_file` reads them; a crash leaves the old file as it was.

    A name that ends in `.safetensors` gets the format that is read ten times as fast, and of which
    a run reads only the graphs that it explains; any other name gets a list in `torch.save`.
    """
    path = Path(path)
    with atomic_path(path) as aside:
        if path.suffix == SAFETENSORS:
            write_graphs(graphs, aside)
        else:
            with aside.open("wb") as stream:  # torch would write the name of a path into the file
                torch.save(list(graphs), stream)


def load_file(path: str | Path, task: Task | None = None) -> GraphDataset:
    """Return the graphs of a file that `save_file` wrote, or `torch.save` of a graph or a list.

    Nothing in the file is executed. Graphs are `Data` or `HeteroData`. Without `task`, one graph
    with a class for each of its nodes (of one type, if it has types) is a node set, and all else a
    set of graphs.
    """
    path = Path(path)
    content = open_graphs(path) if path.suffix == SAFETENSORS else _read(path)
    graphs = _validated(content, path)
    classes, kind = count_classes(graphs), task or infer_task(graphs)
    return GraphDataset(
        name=path.stem,
        task=kind,
        graphs=graphs,
        num_classes=classes,
        class_names=tuple(str(number) for number in range(classes)),
        description=f"{len(graphs)} graphs of {path.name}",
        citation="",
        provenance=f"file {path.name}",
        target_type=_target_type(graphs[0], kind),
    )


def read_safely(path: Path) -> Any:
    """Return what `torch.save` wrote: tensors and what holds them, and nothing that runs code.

    Raises:
        InputError: If the path leads to a pipe or a device, which may never end.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        raise InputError(
            f"Expected {path} to be a file (got a pipe or a device). Write the content to a file."
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what torch refuses gets a sentence of ours
        return torch.load(path, map_location="cpu", weights_only=True)


def is_torch_file(path: Path) -> bool:
    """Return whether a file begins as `torch.save` and `pickle` begin theirs."""
    with path.open("rb") as stream:
        return stream.read(2) in (b"PK", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")


def _read(path: Path) -> Any:
    try:
        with torch.serialization.safe_globals(_classes_to_allow()):
            return read_safely(path)
    except InputError:
        raise
    except FileNotFoundError as error:
        raise InputError(
            f"Expected the data file to exist (got {path}). Check the path."
        ) from error
    except pickle.UnpicklingError as error:
        runs_code = "something that could run code when it is read"
        got = runs_code if is_torch_file(path) else "a file that torch.save did not write"
        raise InputError(
            f"Expected {path} to hold only PyG graphs and tensors (got {got}). {_ADVICE}"
        ) from error
    except Exception as error:  # torch's readers raise whatever a broken file leads them to
        reason = error.strerror if isinstance(error, OSError) else None
        raise InputError(
            f"Expected {path} to be a file written by `torch.save` (got "
            f"{reason or 'something else'}). {_ADVICE}"
        ) from error


def _classes_to_allow() -> list[Any]:
    """Return the classes to allow for a moment; torch would forget PyG's own ones afterwards."""
    known = torch.serialization.get_safe_globals()
    return [kind for kind in _SAFE if kind not in known]


def _validated(content: Any, path: Path) -> tuple[Data, ...]:
    """Return the content as graphs; raise InputError if it is anything else."""
    graphs = tuple(content) if isinstance(content, list | tuple | Columns) else (content,)
    if not graphs:
        raise InputError(f"Expected {path} to hold at least one graph (got none). Save some in it.")
    for number, graph in enumerate(graphs):
        if isinstance(graph, HeteroData):
            _check_typed(graph, number, path)
            _check_no_cycle(graph, number, path)
            continue
        if not isinstance(graph, Data):
            raise InputError(
                f"Expected graph {number} of {path} to be a PyG `Data` (got "
                f"{type(graph).__name__}). {_ADVICE}"
            )
        fault = _fault(graph)
        if fault:
            raise InputError(
                f"Expected graph {number} of {path} to be {fault}. Save it again after a call of "
                "its `validate()`."
            )
        _check_no_cycle(graph, number, path)
    return graphs


def _check_typed(graph: HeteroData, number: int, path: Path) -> None:
    """Raise InputError if a typed graph is invalid."""
    try:
        validate_typed_graph(graph)
    except InputError as error:
        raise InputError(f"{error} That was graph {number} of {path}.") from error
    except Exception as error:  # PyG counts along whatever stores there are
        raise InputError(
            f"Expected graph {number} of {path} to have nodes and edges by type (got "
            f"{type(error).__name__}). Save it again after a call of its `validate()`."
        ) from error


def _check_no_cycle(graph: Data | HeteroData, number: int, path: Path) -> None:
    """Raise InputError if a graph is among its own attributes, so that nothing can write it out."""
    values = (value for store in graph.stores for value in store.values())
    if not any(isinstance(value, BaseData | Mapping) for value in values):
        return
    try:
        repr(graph)
    except RecursionError as error:
        raise InputError(
            f"Expected graph {number} of {path} to hold what is not the graph itself (got a graph "
            "among its own attributes). Remove that attribute and save it again."
        ) from error


def _fault(graph: Data) -> str | None:
    """Return what the graph should have been and is not, or None."""
    try:
        edges = graph.get("edge_index")
    except Exception:  # the file has something else in the place of attributes
        edges = None
    if not isinstance(edges, Tensor) or edges.dtype != torch.long or edges.dim() != 2:
        return "a graph with a long `edge_index` [2, E] (got none)"
    if edges.size(0) != 2:
        return f"a graph with an `edge_index` of two rows (got {edges.size(0)})"
    try:
        nodes = int(graph.num_nodes or 0)
    except Exception as error:  # PyG counts along whatever attributes there are
        return f"a graph with a number of nodes (got {type(error).__name__})"
    lowest, highest = map(int, edges.aminmax()) if edges.numel() else (0, -1)
    if lowest < 0 or highest >= nodes:
        wrong = lowest if lowest < 0 else highest
        return f"a graph whose edges join its {nodes} nodes (got node {wrong})"
    return None


def infer_task(graphs: Sequence[Data | HeteroData]) -> Task:
    """Return "node" for one graph with a class for each of its nodes, else "graph"."""
    return "node" if len(graphs) == 1 and _labelled(graphs[0]) else "graph"


def _labelled(graph: Data | HeteroData) -> list[str | None]:
    """Return the node types with a class for each node; [None] for a graph without types."""
    stores = graph.node_stores if isinstance(graph, HeteroData) else [graph]
    return [getattr(store, "_key", None) for store in stores if _is_per_node(store.get("y"), store)]


def _is_per_node(y: Any, store: Any) -> bool:
    return isinstance(y, Tensor) and y.dim() == 1 and len(y) == store.num_nodes > 1


def _target_type(graph: Data | HeteroData, task: Task) -> str | tuple[str, str] | None:
    """Return the type of the nodes, or those of the ends of links, that have labels; else None."""
    if not isinstance(graph, HeteroData) or task == "graph":
        return None
    if task == "node":
        types = _labelled(graph)
        return types[0] if len(types) == 1 else None
    ends = {(kind[0], kind[2]) for kind in graph.edge_types if LINK in graph[kind]}
    return ends.pop() if len(ends) == 1 else None


def count_classes(graphs: Sequence[Data | HeteroData]) -> int:
    """Return one more than the largest class, or 0 if the graphs have no classes."""
    stores = [store for graph in graphs for store in _stores(graph)]
    labels = [store["y"] for store in stores if isinstance(store.get("y"), Tensor)]
    integral = all(y.numel() and not (y.is_floating_point() or y.is_complex()) for y in labels)
    largest = max(int(y.max()) for y in labels) if labels and integral else -1
    return 1 + largest if largest < _MOST_CLASSES else 0


def _stores(graph: Data | HeteroData) -> list[Any]:
    """Return what may have classes: the graph, and its node types."""
    return [graph._global_store, *graph.node_stores] if isinstance(graph, HeteroData) else [graph]
