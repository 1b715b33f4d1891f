"""Load the data and the model that a user named."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast, get_args

from torch_geometric.data import Data

from eigsearch._utils.name_lookup import resolve
from eigsearch.datasets import GraphDataset, load_molecules
from eigsearch.datasets import load as load_dataset
from eigsearch.datasets import load_file as load_graphs
from eigsearch.datasets.dataset import Task
from eigsearch.datasets.file_io import infer_task
from eigsearch.datasets.molecule_files.formats import SUFFIXES
from eigsearch.errors import InputError
from eigsearch.inputs.edge_groups import GroupSpec
from eigsearch.parallel import DirectorySource, MappedSource, Source


@dataclass(frozen=True)
class Columns:
    """How a file of molecules is read, and what its classes and values are called."""

    smiles: str | None = None
    id: str | None = None
    label: str | None = None
    featurizer: str = "pyg"
    class_names: str | None = None
    unit: str | None = None

    @property
    def arguments(self) -> dict[str, str | None]:
        """The arguments of `load_molecules` that differ from its defaults."""
        return {
            "smiles_column": self.smiles,
            "id_column": self.id,
            "label_column": self.label,
            "featurizer": None if self.featurizer == Columns.featurizer else self.featurizer,
        }

    def named(self, dataset: GraphDataset) -> GraphDataset:
        """Return a data set with the names that a user gave."""
        names = dataset.class_names
        if self.class_names is not None:
            names = tuple(name.strip() for name in self.class_names.split(","))
            if dataset.num_classes > len(names):
                raise InputError(
                    f"Expected --class-names to name the {dataset.num_classes} classes of "
                    f"{dataset.name} (got {len(names)}). Separate them by commas."
                )
        return replace(dataset, class_names=names, unit=self.unit or dataset.unit)

    def check_unused(self, path: str) -> None:
        """Raise InputError if columns were named for data that has none."""
        name = next((name for name, value in self.arguments.items() if value is not None), None)
        if name is not None:
            raise InputError(
                f"Expected --{name.replace('_', '-')} together with a file of molecules (got "
                f"{path}). Pass a file that ends in one of {', '.join(SUFFIXES)}, or leave the "
                "flag out."
            )


def load_data(
    dataset: str | None,
    data: Path | None,
    root: Path | None,
    task: Task | None = None,
    in_memory: bool = False,
    columns: Columns | None = None,
) -> GraphDataset:
    """Return the registered data set, or the graphs of the file, that a user named.

    Large files are read graph by graph, unless all of them are needed `in_memory`.
    """
    columns = columns or Columns()
    found = _load(dataset, data, root, task, in_memory, columns)
    if found.task != "graph" and len(found) > 1:  # or the first would stand for all
        raise InputError(
            f"Expected {data} to hold one graph, to explain {found.task}s of it (got "
            f"{len(found)}). Save that graph in a file of its own, or leave out the flag about "
            f"{found.task}s."
        )
    return columns.named(found)


def _load(
    dataset: str | None,
    data: Path | None,
    root: Path | None,
    task: Task | None,
    in_memory: bool,
    columns: Columns,
) -> GraphDataset:
    if (dataset is None) == (data is None):
        got = "neither" if dataset is None else "both"
        raise InputError(
            f"Expected either --dataset or --data (got {got}). "
            "Pass the name of a data set, or the path of a file of your own."
        )
    if data is not None and data.suffix.lower() in SUFFIXES and not data.is_dir():
        return _molecules(data, columns, in_memory)
    columns.check_unused(str(data or dataset))
    if data is None:
        return load_dataset(str(dataset), root)
    source = None if in_memory else _lazy_source(data)
    if source is None:
        return load_graphs(data, task)
    graphs = cast(tuple[Data, ...], source)  # reads like one, and holds nothing
    kind = (task or infer_task(graphs)) if isinstance(source, MappedSource) else "graph"
    return GraphDataset(data.stem, kind, graphs, 0, (), f"graphs of {data.name}", "", str(data))


def _molecules(path: Path, columns: Columns, in_memory: bool) -> GraphDataset:
    """Return the molecules of a file; those with a label, where all are read for training."""
    found = load_molecules(path, columns.smiles, columns.id, columns.label, columns.featurizer)
    if not in_memory:
        return found
    if not found.num_classes:
        raise InputError(
            f"Expected --label-column to name classes to train on (got "
            f"{columns.label or 'none'}). Name a column of texts or of few whole numbers."
        )
    graphs = (found[number] for number in range(len(found)))
    return replace(found, graphs=tuple(graph for graph in graphs if graph.get("y") is not None))


def _lazy_source(path: Path) -> Source | None:
    """Return a source that reads graph by graph; None for a file that is loaded whole."""
    if path.is_dir():
        return DirectorySource(path)
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
