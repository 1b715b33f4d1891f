"""Load the data and the model that a user named."""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path
from pickle import UnpicklingError
from textwrap import shorten
from typing import Any, cast, get_args

import torch
from safetensors.torch import load_file
from torch_geometric.data import Data

from eigsearch._utils.file_digest import files_digest
from eigsearch._utils.name_lookup import resolve
from eigsearch.cli.console import print_note
from eigsearch.datasets import GraphDataset
from eigsearch.datasets import load as load_dataset
from eigsearch.datasets import load_file as load_graphs
from eigsearch.datasets.dataset import Task
from eigsearch.datasets.file_io import infer_task, read_safely
from eigsearch.errors import InputError, UnsupportedError
from eigsearch.inputs.edge_groups import GroupSpec
from eigsearch.models import load_model, zoo
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


def load_network(
    model: str, dataset: GraphDataset, weights: Path | None, arguments: str | None
) -> Any:
    """Return the model that a user named, in evaluation mode.

    `package.module:Class` is imported, which runs the user's own code; a name such as `gin` is a
    network of the zoo, or with `weights` one that `eigsearch train` wrote.
    """
    if dataset.task == "link" or dataset.target_type is not None:
        raise UnsupportedError(
            f"Expected a data set of untyped graphs or nodes (got {dataset.name}, whose links or "
            "typed nodes this command cannot explain). Use its network and truth from Python."
        )
    if ":" in model:
        return _own_model(model, weights, arguments)
    if arguments is not None:
        raise InputError(
            f"Expected --model-args together with a class of your own (got --model {model}). "
            "Write the model as package.module:Class."
        )
    network, card = zoo.load(dataset.name, model) if weights is None else load_model(weights)
    if (card.num_features, card.task) != (dataset.num_features, dataset.task):
        raise InputError(
            f"Expected a model for {dataset.task}s with {dataset.num_features} features (got one "
            f"for {card.task}s with {card.num_features}). Pass weights that were trained on "
            f"{dataset.name}."
        )
    return network


def describe_model(model: str, arguments: str | None) -> dict[str, Any]:
    """Return what a manifest records of a model beside its digest."""
    described: dict[str, Any] = {"model_name": model}
    if ":" in model:
        file = getattr(sys.modules.get(model.partition(":")[0]), "__file__", None)
        described["model_args"] = _parse_arguments(arguments)
        described["model_file"] = files_digest([file]) if file else None
    return described


def parse_groups(groups: str) -> GroupSpec:
    """Return the grouping of edges that a user named."""
    known: dict[str, GroupSpec] = {name: name for name in get_args(get_args(GroupSpec)[0])}
    return known[resolve("--groups", groups, known)]


def _own_model(name: str, weights: Path | None, arguments: str | None) -> torch.nn.Module:
    make = _imported(name)
    try:
        model = make(**_parse_arguments(arguments))
    except TypeError as error:
        raise InputError(
            f"Expected {name} to be built from --model-args (got: {error}). "
            """Pass its arguments as JSON, such as --model-args '{"hidden": 64}'."""
        ) from error
    if not isinstance(model, torch.nn.Module):
        raise InputError(
            f"Expected {name} to make a torch.nn.Module (got {type(model).__name__}). "
            "Name a class, or a function that returns a model."
        )
    if weights is not None:
        _load_weights(model, weights)
    elif isinstance(make, type) and any(True for _ in model.parameters()):
        print_note(
            f"{name} got no --weights: what is explained are those that it starts with, which are "
            "random unless the class takes care of that."
        )
    return model.eval()


def _imported(name: str) -> Any:
    module_name, _, attribute = name.partition(":")
    if os.getcwd() not in sys.path:  # last: no file there may take the place of a package
        sys.path.append(os.getcwd())
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise InputError(
            f"Expected --model {name} to name a module that can be imported (got: {error}). "
            "Run the command where the module is, or install its package."
        ) from error
    known = [key for key, value in vars(module).items() if callable(value) and key[0] != "_"]
    if attribute not in known:
        attribute = resolve(f"model in {module_name}", attribute, known)
    return getattr(module, attribute)


def _parse_arguments(text: str | None) -> dict[str, Any]:
    try:
        arguments = json.loads(text or "{}")
        if isinstance(arguments, dict):
            return arguments
    except ValueError:
        pass
    raise InputError(
        f"Expected --model-args to be a JSON object (got {text!r}). "
        """Write it as '{"hidden": 64}'."""
    )


def _load_weights(model: torch.nn.Module, path: Path) -> None:
    """Load weights without unpickling anything but tensors."""
    try:
        state = load_file(path) if path.suffix == ".safetensors" else read_safely(path)
        model.load_state_dict(state)
    except FileNotFoundError as error:
        raise InputError(f"Expected --weights to exist (got {path}). Check the path.") from error
    except Exception as error:  # torch's readers raise whatever a broken file leads them to
        raise InputError(_wrong_weights(path, error)) from error


def _wrong_weights(path: Path, error: Exception) -> str:
    if isinstance(error, UnpicklingError):
        got = "something that could run code when it is read"
    else:
        got = f"{type(error).__name__}: {_details(error)}"
    return (
        f"Expected {path} to hold the weights of this model and nothing else (got {got}). "
        "Pass the arguments that the model was trained with as --model-args, or save "
        "`model.state_dict()` with safetensors or torch.save."
    )


def _details(error: Exception) -> str:
    """Return torch's message in one line, without the first, which names the class."""
    first, *others = str(error).strip().split("\n")
    return shorten(" ".join(others) or first, _LONGEST, placeholder=" …").rstrip(".")
