"""Run a model in evaluation mode, from any number of threads, and restore it afterwards."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from eigsearch.inference.model_modules import ModelModules, find_modules
from eigsearch.inference.model_state import restore_attributes

_COPIED = 1 << 22  # larger buffers are not copied, so in-place writes to them are not undone


@dataclass(slots=True)
class _Held:
    """A module in use and its original state."""

    module: torch.nn.Module
    attributes: dict[str, Any]
    training: bool
    tensors: list[tuple[Tensor, int, Tensor]] = field(default_factory=list)
    users: int = 0


# Modules in use, by their ids. Explanations of one model in several threads share an entry: the
# first to come notes what the module was like, the last to leave restores it.
_HELD: dict[int, _Held] = {}
_LOCK = threading.Lock()


@contextmanager
def eval_mode(model: Any, *also: Any) -> Iterator[None]:
    """Run a model in evaluation mode, and leave it exactly as it was, whatever happens.

    Layers that cache a normalised graph (`cached=True`) compute it anew for each candidate, and
    those that were compiled run as they were written. What
    the model writes while it runs (attributes, buffers, embeddings with `max_norm`) is undone.
    Modules that a model holds without registering them stay in the mode that they are in, as they
    do where a user calls `model.eval()`.

    Args:
        model: The model.
        *also: What else runs with it, such as `forward=`.
    """
    with in_eval_mode(find_modules(model, *also)):
        yield


@contextmanager
def in_eval_mode(found: ModelModules) -> Iterator[None]:
    """Run the modules of a model in evaluation mode, and leave them exactly as they were."""
    modules = [*found.registered, *found.held]
    with _LOCK:
        for module in modules:
            _hold(module)
        for module in found.registered:
            _set_training(module, False)
    try:
        yield
    finally:
        with _LOCK:
            _release(modules)


def undo_writes(modules: Sequence[torch.nn.Module]) -> None:
    """Restore the values of tensors of modules in use that a call modified in place."""
    for module in modules:
        held = _HELD.get(id(module))
        if held is not None and held.tensors:
            _undo(held, module.training)


def _undo(held: _Held, unnoticed: bool) -> None:
    """Undo writes to tensors; those of `batch_norm` are not counted by it, and go unnoticed."""
    for number, (tensor, version, before) in enumerate(held.tensors):
        if tensor._version != version or (unnoticed and not _equal(tensor, before)):
            with torch.no_grad():
                tensor.copy_(before)
            held.tensors[number] = tensor, tensor._version, before


def _hold(module: torch.nn.Module) -> None:
    held = _HELD.get(id(module))
    if held is None:
        own = vars(module)
        tensors = [(t, t._version, t.detach().clone()) for t in _written_in_place(module)]
        held = _HELD[id(module)] = _Held(module, own.copy(), module.training, tensors)
        if own.get("cached") is True:
            own["cached"] = False
            for name in own:
                if name.startswith("_cached"):
                    setattr(module, name, None)
        # Every new candidate size would compile the module again.
        if own.get("_compiled_call_impl") is not None:  # after `module.compile()`
            own["_compiled_call_impl"] = None
        if "dynamo_ctx" in own:  # a part of the model that went through `torch.compile`
            own["forward"] = module._orig_mod
    held.users += 1


def _release(modules: Sequence[torch.nn.Module]) -> None:
    free = []
    for module in modules:
        held = _HELD[id(module)]
        held.users -= 1
        if not held.users:
            free.append(_HELD.pop(id(module)))
    restore_attributes([(held.module, held.attributes) for held in free])
    for held in free:
        if held.module.training is not held.training:
            _set_training(held.module, held.training)
        if held.tensors:
            _undo(held, unnoticed=True)


def _equal(tensor: Tensor, before: Tensor) -> bool:
    """Return whether two tensors are equal, with NaN equal to NaN."""
    return torch.equal(tensor, before) or torch.equal(tensor.nan_to_num(), before.nan_to_num())


def _set_training(module: torch.nn.Module, training: bool) -> None:
    """Set the mode of one module, past the checks that setting an attribute goes through."""
    if "training" in vars(module):
        vars(module)["training"] = training
    else:  # compiled
        module.training = training


def _written_in_place(module: torch.nn.Module) -> list[Tensor]:
    """Return the tensors of a module that a forward call may write into."""
    state = vars(module)
    if isinstance(module, torch.jit.ScriptModule):
        own = list(module.buffers(recurse=False))
    elif state["_buffers"]:
        own = [tensor for tensor in state["_buffers"].values() if tensor is not None]
    else:
        own = []
    own = [tensor for tensor in own if tensor.numel() <= _COPIED]
    if state.get("max_norm") is not None:  # an embedding's; a lookup on modules is slow
        own.extend(weight for _, weight in module.named_parameters(recurse=False))
    return [tensor for tensor in own if not tensor.is_inference()]
