"""Load the model that a user named."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from pickle import UnpicklingError
from textwrap import shorten
from typing import Any

import torch
from safetensors.torch import load_file

from eigsearch._utils.file_digest import files_digest
from eigsearch._utils.importing import import_named, reason_of
from eigsearch.cli.console import print_note
from eigsearch.datasets import GraphDataset, names
from eigsearch.datasets.file_io import is_torch_file, read_safely
from eigsearch.errors import EigsearchError, InputError
from eigsearch.models import ModelCard, load_model, zoo

_LONGEST = 300  # characters of torch's message about weights that do not fit
# Where training loops and Lightning keep the weights in a checkpoint, and what wrappers prepend.
_STATE_KEYS = ("state_dict", "model_state_dict", "model", "net")
_PREFIXES = ("module.", "model.", "net.", "_orig_mod.")


def load_network(
    model: str, dataset: GraphDataset, weights: Path | None, arguments: str | None
) -> Any:
    """Return the model that a user named, in evaluation mode.

    `package.module:Class` or `file.py:Class` is imported, which runs the user's own code; a name
    such as `gin` is a network of the zoo, or with `weights` one that `eigsearch train` wrote.
    """
    if ":" in model:
        return _own_model(model, weights, arguments)
    if arguments is not None:
        raise InputError(
            f"Expected --model-args together with a class of your own (got --model {model}). "
            "Write the model as package.module:Class."
        )
    network, card = _zoo_network(model, dataset) if weights is None else load_model(weights)
    if (card.num_features, card.task) != (dataset.num_features, dataset.task):
        raise InputError(
            f"Expected a model for {dataset.task}s with {dataset.num_features} features (got one "
            f"for {card.task}s with {card.num_features}). Pass weights that were trained on "
            f"{dataset.name}."
        )
    return network


def check_device(device: str | None) -> str | None:
    """Return the device that a user named; raise InputError if torch cannot compute there."""
    if device is None:
        return None
    try:
        (torch.zeros(1, device=device) + 1).item()
    except (RuntimeError, AssertionError) as error:  # torch without CUDA asserts
        raise InputError(
            f"Expected --device to be one that torch can compute on here (got {device!r}: "
            f"{_details(error)}). Pass cpu, or cuda where there is a GPU."
        ) from error
    return device


def describe_model(model: str, arguments: str | None) -> dict[str, Any]:
    """Return what a manifest records of a model beside its digest."""
    described: dict[str, Any] = {"model_name": model}
    if ":" in model:
        module = model.rpartition(":")[0]
        imported = getattr(sys.modules.get(module), "__file__", None)
        file = module if module.endswith(".py") else imported
        described["model_args"] = _parse_arguments(arguments)
        described["model_file"] = files_digest([file]) if file else None
    return described


def load_weights(model: torch.nn.Module, path: str | Path) -> None:
    """Load weights, also from inside a checkpoint, without unpickling anything but tensors.

    Raises:
        InputError: If the file cannot be read, or does not fit the model.
    """
    path = Path(path)
    try:
        state = load_file(path) if path.suffix == ".safetensors" else read_safely(path)
        model.load_state_dict(_state_dict(state, model))
    except FileNotFoundError as error:
        raise InputError(f"Expected --weights to exist (got {path}). Check the path.") from error
    except Exception as error:  # torch's readers raise whatever a broken file leads them to
        raise InputError(_wrong_weights(path, error)) from error


def _zoo_network(model: str, dataset: GraphDataset) -> tuple[Any, ModelCard]:
    try:
        return zoo.load(dataset.name, model)
    except InputError as error:
        if dataset.name in names():
            raise
        raise InputError(
            f"Expected --model to be a class of your own for the graphs of {dataset.name} (got "
            f"{model}, and the zoo has no network for them). Write it as package.module:Class or "
            "file.py:Class, or pass the --weights that `eigsearch train` wrote."
        ) from error


def _own_model(name: str, weights: Path | None, arguments: str | None) -> torch.nn.Module:
    make = import_named(name, "--model", "model")
    if isinstance(make, torch.nn.Module) or not callable(make):
        raise InputError(
            f"Expected {name} to be a class, or a function that returns a model (got an object of "
            f"the class {type(make).__name__}). Name its class and pass --weights, or add a "
            "function that returns it."
        )
    try:
        model = make(**_parse_arguments(arguments))
    except EigsearchError:
        raise
    except TypeError as error:
        raise InputError(
            f"Expected {name} to be built from --model-args (got: {error}). "
            """Pass its arguments as JSON, such as --model-args '{"hidden": 64}'."""
        ) from error
    except Exception as error:  # whatever the user's own code does
        raise InputError(
            f"Expected {name} to make a model (got {reason_of(error)}). Mend it, or pass other "
            "--model-args."
        ) from error
    if not isinstance(model, torch.nn.Module):
        raise InputError(
            f"Expected {name} to make a torch.nn.Module (got {type(model).__name__}). "
            "Name a class, or a function that returns a model."
        )
    if weights is not None:
        load_weights(model, weights)
    elif isinstance(make, type) and any(True for _ in model.parameters()):
        print_note(
            f"{name} got no --weights: what is explained are those that it starts with, which are "
            "random unless the class takes care of that."
        )
    return model.eval()


def _parse_arguments(text: str | None) -> dict[str, Any]:
    try:
        arguments = json.loads(text or "{}")
        if isinstance(arguments, dict):
            return arguments
    except (ValueError, RecursionError):
        pass
    raise InputError(
        f"Expected --model-args to be a JSON object (got {shorten(repr(text), _LONGEST)}). "
        """Write it as '{"hidden": 64}'."""
    )


def _state_dict(content: Any, model: torch.nn.Module) -> Any:
    """Return the weights of a checkpoint, named as the model names them."""
    for key in _STATE_KEYS:
        if isinstance(content, Mapping) and isinstance(content.get(key), Mapping):
            content = content[key]
            break
    expected = set(model.state_dict())
    for prefix in _PREFIXES:
        if isinstance(content, Mapping) and not expected & set(content):
            content = {name.removeprefix(prefix): value for name, value in content.items()}
    return content


def _wrong_weights(path: Path, error: Exception) -> str:
    if isinstance(error, UnpicklingError):
        runs_code = "something that could run code when it is read"
        got = runs_code if is_torch_file(path) else "a file that torch.save did not write"
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
