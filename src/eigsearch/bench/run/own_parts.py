"""Data sets, networks and metrics of the user, which a plan names `file.py:name`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import torch
from torch_geometric.data import Data

from eigsearch._utils.code_digest import code_digest
from eigsearch._utils.fingerprint import model_digest
from eigsearch._utils.importing import import_named
from eigsearch.datasets import GraphDataset
from eigsearch.datasets.file_io import count_classes, infer_task
from eigsearch.errors import InputError
from eigsearch.explanation.explanation import SubgraphExplanation

OwnMetric = Callable[[SubgraphExplanation, Any], float]


def short_name(name: str) -> str:
    """Return the name in reports of something that a plan names.

    >>> short_name("mine.py:Noisy"), short_name("gin")
    ('Noisy', 'gin')
    """
    return name.rpartition(":")[2]


def load_own_dataset(name: str) -> GraphDataset:
    """Return the data set that a function of the user makes: a `GraphDataset`, or graphs."""
    made = import_named(name, "a data set", "data set")()
    if isinstance(made, GraphDataset):
        return made
    graphs = (made,) if isinstance(made, Data) else tuple(made) if _is_many(made) else ()
    if not graphs or not all(isinstance(graph, Data) for graph in graphs):
        raise InputError(
            f"Expected {name} to return a GraphDataset or a list of PyG `Data` (got "
            f"{type(made).__name__}). Return the graphs, each with its class as `y`."
        )
    classes = count_classes(graphs)
    return GraphDataset(
        name=short_name(name),
        task=infer_task(graphs),
        graphs=graphs,
        num_classes=classes,
        class_names=tuple(map(str, range(classes))),
        description=f"{len(graphs)} graphs of {name}",
        citation="",
        provenance=name,
    )


def load_own_network(name: str, dataset: GraphDataset) -> torch.nn.Module:
    """Return the trained network that a function of the user makes, alone or for a data set."""
    make = import_named(name, "a network", "network")
    takes_dataset = not isinstance(make, type) and bool(inspect.signature(make).parameters)
    model = make(dataset) if takes_dataset else make()
    if not isinstance(model, torch.nn.Module):
        raise InputError(
            f"Expected {name} to return a trained torch.nn.Module (got {type(model).__name__}). "
            "Load its weights in the function."
        )
    return model.eval()


@cache
def own_dataset_digest(name: str) -> str:
    """Return the digest of the data set that a function of the user makes."""
    return load_own_dataset(name).digest


@cache
def own_network_digest(name: str, dataset: str) -> str:
    """Return the digest of the network that a function of the user makes."""
    from eigsearch.bench.run.setting import load_dataset

    return model_digest(load_own_network(name, load_dataset(dataset)))


def own_code_digest(name: str) -> str:
    """Return the digest of the code of an explainer or a metric of the user."""
    return code_digest(import_named(name, "a part of the plan", "name"))


def own_metrics(names: Iterable[str]) -> dict[str, OwnMetric]:
    """Return the metrics of a section by their short names."""
    return {short_name(name): import_named(name, "a metric", "metric") for name in names}


def _is_many(made: Any) -> bool:
    return isinstance(made, Iterable) and not isinstance(made, str)
