"""Traces: a user's model as a list of operations, its layers, norms and pooling kept whole."""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from unittest import mock
from weakref import WeakKeyDictionary

import torch
from torch import fx
from torch_geometric import nn as pyg
from torch_geometric.data import Data
from torch_geometric.nn.pool import glob
from torch_geometric.utils import scatter

from eigsearch.engine.incremental.scene import Unservable

_LEAVES = (
    pyg.MessagePassing, pyg.aggr.Aggregation, pyg.JumpingKnowledge, pyg.BatchNorm, pyg.LayerNorm,
    pyg.Linear, pyg.MLP,
)  # fmt: skip

_STEPS = ("propagate", "message", "aggregate", "message_and_aggregate", "edge_update")
_HOOKS = tuple(f"_{step}_forward_{kind}" for step in _STEPS for kind in ("pre_hooks", "hooks"))


# While torch.fx traces a model, all modules of the process answer to it: one trace at a time.
_TRACING = threading.Lock()


class _Tracer(fx.Tracer):
    """Traces through a user's own modules and stops at those that are understood as a whole.

    Modules that other threads call meanwhile run as always.
    """

    def __init__(self, model: torch.nn.Module) -> None:
        # Whatever name a model calls pooling by, PyG's functions end in `scatter`.
        super().__init__(autowrap_functions=(scatter,))
        files = {type(module).__module__ for module in model.modules()}
        own = [sys.modules[file] for file in files if not file.startswith("torch")]
        self._autowrap_search.extend([glob, *own])
        self._thread = threading.get_ident()

    def is_leaf_module(self, m: torch.nn.Module, module_qualified_name: str) -> bool:
        return isinstance(m, _LEAVES) or super().is_leaf_module(m, module_qualified_name)

    def call_module(
        self,
        m: torch.nn.Module,
        forward: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        if threading.get_ident() != self._thread:
            return forward(*args, **kwargs)
        return super().call_module(m, forward, args, kwargs)

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        if threading.get_ident() != self._thread:
            return attr_val
        return super().getattr(attr, attr_val, parameter_proxy_cache)


@dataclass
class Trace:
    """A model's operations, its depth, and whether the batched engine has confirmed them."""

    graph: fx.Graph
    layers: int
    confirmed: bool = False


# Tracing takes longer than explaining a molecule, and the next call often has the same model.
_KNOWN: WeakKeyDictionary[torch.nn.Module, dict[Any, Trace]] = WeakKeyDictionary()


def trace(model: Any, data: Data) -> Trace:
    """Return the trace of a model on graphs that have the attributes of `data`.

    Raises `Unservable` where the model cannot be written down: control flow that depends on
    values, hooks inside a layer, or a callable that is not a module.
    """
    if not isinstance(model, torch.nn.Module):
        raise Unservable("The model is not a torch.nn.Module.")
    if any(_is_hooked(module) for module in model.modules()):  # hooks come and go between calls
        raise Unservable("A layer has hooks on its messages.")
    known = _KNOWN.setdefault(model, {})
    key = (_settings(model), *sorted(data.keys()))
    if key not in known:
        graph = _trace(model, {*data.keys(), "batch"})
        known[key] = Trace(graph, depth(graph, model))
    return known[key]


def _is_hooked(module: torch.nn.Module) -> bool:
    """Tell whether anyone listens inside a layer, or changes what passes there."""
    passes = isinstance(module, pyg.MessagePassing)
    return passes and any(getattr(module, name, None) for name in _HOOKS)


def _settings(model: torch.nn.Module) -> int:
    """Return a hash of what steers a trace: modules, and the attributes of those traced into."""
    plain = (bool, int, float, str, type(None))
    modules = list(model.modules())
    state = [
        (name, value if isinstance(value, plain) else id(value))
        for module in modules
        if not isinstance(module, _LEAVES) and not type(module).__module__.startswith("torch.nn")
        for name, value in vars(module).items()
    ]
    return hash((*map(id, modules), *state))


def _trace(model: torch.nn.Module, given: set[str]) -> fx.Graph:
    constants = {
        name: parameter.default
        for name, parameter in inspect.signature(model.forward).parameters.items()
        if parameter.default is not inspect.Parameter.empty and name not in given
    }
    try:
        with _TRACING, mock.patch.object(pyg.aggr.Aggregation, "__call__", _call):
            return _Tracer(model).trace(model, constants)
    except Exception as error:  # whatever a user's forward does to a proxy
        raise Unservable(f"torch.fx cannot trace the model: {error}") from error


def _call(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
    """Call an aggregation without the checks that a proxy cannot pass."""
    return torch.nn.Module.__call__(module, *args, **kwargs)


def depth(graph: fx.Graph, model: torch.nn.Module) -> int:
    """Return the largest number of message-passing layers on any way through the trace."""
    depths: dict[fx.Node, int] = {}
    for node in graph.nodes:
        below = max((depths[each] for each in node.all_input_nodes), default=0)
        passes = node.op == "call_module" and isinstance(
            model.get_submodule(str(node.target)), pyg.MessagePassing
        )
        depths[node] = below + passes
    return max(depths.values(), default=0)
