"""Traces: a user's model as a list of operations, its layers, norms and pooling kept whole."""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, fx
from torch_geometric import nn as pyg
from torch_geometric.data import Batch, Data
from torch_geometric.nn.pool import glob
from torch_geometric.utils import scatter

from eigsearch.engines.incremental.context import Unservable

_LEAVES = (
    pyg.MessagePassing, pyg.aggr.Aggregation, pyg.JumpingKnowledge, pyg.BatchNorm, pyg.LayerNorm,
    pyg.Linear, pyg.MLP,
)  # fmt: skip

_STEPS = ("propagate", "message", "aggregate", "message_and_aggregate", "edge_update")
_HOOKS = tuple(f"_{step}_forward_{kind}" for step in _STEPS for kind in ("pre_hooks", "hooks"))


_ABSENT: Any = object()
_OF_CALLERS = ("training", "cached", "_cached")

# While torch.fx traces a model, all modules of the process answer to it: one trace at a time.
_TRACING = threading.Lock()


class _Tracer(fx.Tracer):
    """Traces through a user's own modules and stops at those that are understood as a whole.

    Modules that other threads call meanwhile run as always.
    """

    def __init__(self, model: torch.nn.Module, graphs: Data | None) -> None:
        # Whatever name a model calls pooling by, PyG's functions end in `scatter`.
        super().__init__(autowrap_functions=(scatter,))
        files = {type(module).__module__ for module in model.modules()}
        own = [sys.modules[file] for file in files if not file.startswith("torch")]
        self._autowrap_search.extend([glob, *own])
        self._thread = threading.get_ident()
        self._graphs = graphs

    @property
    def constants(self) -> dict[str, Tensor]:
        """Tensors that the forward makes by itself, under the names that torch.fx gave them."""
        return {
            name: value
            for value, name in self.tensor_attrs.items()
            if name.startswith("_tensor_constant") and isinstance(value, Tensor)
        }

    def proxy(self, node: fx.Node) -> fx.Proxy:
        if node.op == "placeholder" and self._graphs is not None:
            return _Graphs(node, self, self._graphs)
        return super().proxy(node)

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


class _Graphs(fx.Proxy):
    """Stands for the graphs that a model takes as one object, and lacks what they lack.

    A model asks `if data.edge_attr is not None`, which a bare proxy never is.
    """

    def __init__(self, node: fx.Node, tracer: fx.Tracer, data: Data) -> None:
        super().__init__(node, tracer)
        self._data = data

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("batch", "ptr"):
            return super().__getattr__(name)
        value = getattr(self._data, name, _ABSENT)
        if value is _ABSENT and not hasattr(Batch, name):
            raise AttributeError(f"The graphs have no attribute {name!r}.")
        return None if value is None else super().__getattr__(name)


@dataclass
class Trace:
    """A model's operations, and what else is known of them.

    Attributes:
        graph: The operations.
        layers: The depth of the model.
        constants: Tensors that the forward makes by itself, by the names that operations use.
        confirmed: Whether the batched engine gave the same.
    """

    graph: fx.Graph
    layers: int
    constants: dict[str, Tensor] = field(default_factory=dict)
    confirmed: bool = False


# Tracing takes longer than explaining a molecule, and the next call often has the same model.
_KNOWN: WeakKeyDictionary[torch.nn.Module, dict[Any, Trace]] = WeakKeyDictionary()


def trace(model: Any, data: Data, takes_object: bool = False) -> Trace:
    """Return the trace of a model on graphs that have the attributes of `data`.

    A model that `takes_object` is given the graphs as one, any other their attributes by name.
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
        known[key] = _trace(model, data, takes_object)
    return known[key]


def _is_hooked(module: torch.nn.Module) -> bool:
    """Tell whether anyone listens inside a layer, or changes what passes there."""
    passes = isinstance(module, pyg.MessagePassing)
    return passes and any(getattr(module, name, None) for name in _HOOKS)


def _settings(model: torch.nn.Module) -> int:
    """Return a hash of what steers a trace: modules, and the attributes of those traced into."""
    modules = list(model.modules())
    state = [
        (name, _setting(value))
        for module in modules
        if not isinstance(module, _LEAVES) and not type(module).__module__.startswith("torch.nn")
        for name, value in vars(module).items()
    ]
    return hash((*map(id, modules), *state))


def _setting(value: Any) -> Any:
    """Return what tells a setting from another; a tensor is read anew whenever a trace runs."""
    if isinstance(value, (bool, int, float, str, type(None))):
        return value
    return Tensor if isinstance(value, Tensor) else id(value)


def _trace(model: torch.nn.Module, data: Data, takes_object: bool) -> Trace:
    given = {*data.keys(), "batch"}
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(model.forward).parameters.items()
        if parameter.default is not inspect.Parameter.empty and name not in given
    }
    tracer = _Tracer(model, data if takes_object else None)
    try:
        with (
            _TRACING,
            _unmarked(model),
            mock.patch.object(pyg.aggr.Aggregation, "__call__", _call),
        ):
            graph = tracer.trace(model, defaults)
    except Exception as error:  # whatever a user's forward does to a proxy
        raise Unservable(f"torch.fx cannot trace the model: {error}") from error
    return Trace(graph, depth(graph, model), tracer.constants)


@contextmanager
def _unmarked(model: torch.nn.Module) -> Iterator[None]:
    """Take back what a trace leaves on modules: constants of torch.fx, what a forward stores."""
    before = [(vars(module), dict(vars(module))) for module in model.modules()]
    try:
        yield
    finally:
        for now, then in before:
            for name in now.keys() - then.keys():
                now.pop(name, None)
            for name, value in then.items():
                # Flags and caches are of those who call the model, in this thread or another.
                if now.get(name) is not value and not name.startswith(_OF_CALLERS):
                    now[name] = value


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
