"""Evaluation mode: a model runs in it, from any number of threads, and is left as it was."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from eigsearch.inference.forward_parameters import unwrap_partial
from eigsearch.inference.model_state import restore_attributes

_COPIED = 1 << 22  # entries of a buffer up to which its values are kept, to undo writes in place


@dataclass
class _Held:
    """A module in use, and what it was like before."""

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
def eval_mode(model: Any) -> Iterator[None]:
    """Run a model in evaluation mode, and leave it exactly as it was, whatever happens.

    Layers that cache a normalised graph (`cached=True`) compute it anew for each candidate. What
    the model writes while it runs (attributes, buffers, embeddings with `max_norm`) is undone.
    """
    modules = _modules(model)
    with _LOCK:
        for module in modules:
            _hold(module)
    try:
        yield
    finally:
        with _LOCK:
            for module in modules:
                _release(module)


def undo_writes(modules: Sequence[torch.nn.Module]) -> None:
    """Give modules in use the values back of tensors into which a call wrote in place."""
    for module in modules:
        held = _HELD.get(id(module))
        if held is not None and held.tensors:
            held.tensors = [_undone(*entry) for entry in held.tensors]


def _undone(tensor: Tensor, version: int, before: Tensor) -> tuple[Tensor, int, Tensor]:
    if tensor._version != version:
        with torch.no_grad():
            tensor.copy_(before)
    return tensor, tensor._version, before


def _modules(model: Any) -> list[torch.nn.Module]:
    model = unwrap_partial(model)
    return list(model.modules()) if isinstance(model, torch.nn.Module) else []


def _hold(module: torch.nn.Module) -> None:
    held = _HELD.get(id(module))
    if held is None:
        held = _HELD[id(module)] = _Held(module, dict(vars(module)), module.training)
        held.tensors = [(t, t._version, t.detach().clone()) for t in _written_in_place(module)]
        _set_training(module, False)
        if vars(module).get("cached") is True:
            vars(module)["cached"] = False
            for name in vars(module):
                if name.startswith("_cached"):
                    setattr(module, name, None)
    held.users += 1


def _release(module: torch.nn.Module) -> None:
    held = _HELD[id(module)]
    held.users -= 1
    if held.users:
        return
    del _HELD[id(module)]
    restore_attributes(module, held.attributes)
    _set_training(module, held.training)
    for entry in held.tensors:
        _undone(*entry)


def _set_training(module: torch.nn.Module, training: bool) -> None:
    """Set the mode of one module, past the checks that setting an attribute goes through."""
    if "training" in vars(module):
        vars(module)["training"] = training
    else:  # compiled
        module.training = training


def _written_in_place(module: torch.nn.Module) -> list[Tensor]:
    """Return the tensors of a module that a forward call may write into."""
    if isinstance(module, torch.jit.ScriptModule):
        own = list(module.buffers(recurse=False))
    else:
        own = [tensor for tensor in vars(module)["_buffers"].values() if tensor is not None]
    own = [tensor for tensor in own if tensor.numel() <= _COPIED]
    if vars(module).get("max_norm") is not None:  # an embedding's; a lookup on modules is slow
        own.extend(weight for _, weight in module.named_parameters(recurse=False))
    return [tensor for tensor in own if not tensor.is_inference()]
