"""Load the data and the model that a user named."""

from __future__ import annotations

from pathlib import Path
from typing import cast, get_args

from torch_geometric.data import Data

from eigsearch._utils.name_lookup import resolve
from eigsearch.datasets import GraphDataset
from eigsearch.datasets import load as load_dataset
from eigsearch.datasets import load_file as load_graphs
from eigsearch.datasets.dataset import Task
from eigsearch.datasets.file_io import infer_task
from eigsearch.errors import InputError
from eigsearch.inputs.edge_groups import GroupSpec
from eigsearch.parallel import DirectorySource, MappedSource, SmilesSource, Source

_LONGEST = 300  # characters of torch's message about weights that do not fit


def load_data(
    dataset: str | None,
    data: Path | None,
    root: Path | None,
    task: Task | None = None,
    in_memory: bool = False,
) -> GraphDataset:
    """Return the registered data set, or the graphs of the file, that a user named.

    Large files are read graph by graph, unless all of them are needed `in_memory`.
    """
    if (dataset is None) == (data is None):
        got = "neither" if dataset is None else "both"
        raise InputError(
            f"Expected either --dataset or --data (got {got}). "
            "Pass the name of a data set, or the path of a file of your own."
        )
    if data is None:
        return load_dataset(str(dataset), root)
    source = None if in_memory else _lazy_source(data)
    if source is None:
        return load_graphs(data, task)
    graphs = cast(tuple[Data, ...], source)  # reads like one, and holds nothing
    kind = (task or infer_task(graphs)) if isinstance(source, MappedSource) else "graph"
    return GraphDataset(data.stem, kind, graphs, 0, (), f"graphs of {data.name}", "", str(data))


def _lazy_source(path: Path) -> Source | None:
    """Return a source that reads graph by graph; None for a file that is loaded whole."""
    if path.is_dir():
        return DirectorySource(path)
    if path.suffix == ".parquet":
        return SmilesSource(path)
    return MappedSource(path) if path.suffix == ".safetensors" else None


def parse_groups(groups: str) -> GroupSpec:
    """Return the grouping of edges that a user named."""
    known: dict[str, GroupSpec] = {name: name for name in get_args(get_args(GroupSpec)[0])}
    return known[resolve("--groups", groups, known)]


def parse_features(features: str | None) -> str | tuple[str, ...] | None:
    """Return the groups of features that a user named, several with commas between them."""
    if features is None or "," not in features:
        return features
    return tuple(features.split(","))
