"""The interpreter: a traced model, run once over the distinct states of all candidates."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, fx, nn
from torch_geometric import nn as pyg
from torch_geometric.utils import scatter

from eigsearch.engines.incremental.context import Scene, State, Unservable
from eigsearch.engines.incremental.layers import run_layer
from eigsearch.engines.incremental.pooling import Readout, explained_rows
from eigsearch.engines.incremental.tracing import Trace
from eigsearch.errors import EigsearchError

# Operations that treat every row of a state for itself.
_ROW_FUNCTIONS: set[Any] = {
    F.relu, F.elu, F.leaky_relu, F.gelu, F.silu, F.selu, F.softplus, F.tanh, F.sigmoid, F.hardtanh,
    F.dropout, torch.relu, torch.tanh, torch.sigmoid, torch.abs, torch.exp, torch.sin, torch.cos,
    torch.add, torch.sub, torch.mul, torch.div, operator.add, operator.sub, operator.mul,
    operator.truediv, operator.neg, operator.pow, operator.iadd, operator.imul,
}  # fmt: skip
_ROW_METHODS = {"relu", "relu_", "tanh", "sigmoid", "abs", "exp", "float", "double", "clone"}
# The same along the last dimension of a matrix, with the default of `dim` in their signature.
_LAST_DIM_FUNCTIONS: dict[Any, int | None] = {
    F.normalize: 1, F.log_softmax: None, F.softmax: None, torch.softmax: None,
    torch.log_softmax: None, torch.cat: 0,
}  # fmt: skip
_LAST_DIM_METHODS = {"softmax", "log_softmax"}
_ROW_MODULES = (
    nn.Linear, nn.Identity, nn.Dropout, nn.LayerNorm, nn.Embedding, nn.ReLU, nn.ELU, nn.LeakyReLU,
    nn.GELU, nn.SiLU, nn.SELU, nn.Softplus, nn.Tanh, nn.Sigmoid, nn.PReLU, nn.Hardtanh, pyg.Linear,
)  # fmt: skip
_REDUCTIONS = {"sum": "sum", "add": "sum", "mean": "mean", "max": "max"}
_POOL_MODULES: dict[type, str] = {
    pyg.SumAggregation: "sum",
    pyg.MeanAggregation: "mean",
    pyg.MaxAggregation: "max",
}


@dataclass(frozen=True)
class Attribute:
    """An attribute of the graphs, named and not yet read."""

    name: str


class Graphs:
    """The argument of a model that takes one object."""


class Interpreter:
    """Runs a trace over a scene and returns the model's output for each candidate."""

    def __init__(self, model: nn.Module, trace: Trace, scene: Scene, takes_object: bool) -> None:
        self.model = model
        self.trace = trace
        self.scene = scene
        self.takes_object = takes_object

    def run(self) -> Tensor:
        """Return one output row for each candidate, in the order of the parts.

        An operation that fails on states may well work on the graphs that they stand for.
        """
        try:
            return self._run()
        except EigsearchError:
            raise
        except Exception as error:
            raise Unservable(f"An operation fails on states: {error}") from error

    def _run(self) -> Tensor:
        values: dict[fx.Node, Any] = {}
        for node in self.trace.graph.nodes:
            args, kwargs = fx.node.map_arg((node.args, node.kwargs), lambda n: values[n])
            values[node] = self._step(node, args, kwargs)
            if node.op == "output":
                return self._result(values[node])
        raise Unservable("The trace has no output.")

    def _step(self, node: fx.Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if node.op == "placeholder":
            return self._placeholder(str(node.target), node.args)
        if node.op == "get_attr":
            return self._stored(str(node.target))
        if node.op == "call_module":
            return self._module(self.model.get_submodule(str(node.target)), args, kwargs)
        if node.op == "call_function":
            return self._function(node.target, args, kwargs)
        if node.op == "call_method":
            return self._method(str(node.target), args, kwargs)
        return args[0]

    def _stored(self, name: str) -> Any:
        constants = self.trace.constants
        return constants[name] if name in constants else operator.attrgetter(name)(self.model)

    def _placeholder(self, name: str, default: tuple[Any, ...]) -> Any:
        if self.takes_object:
            return Graphs()
        if name in ("edge_index", "batch"):
            return Attribute(name)
        if name in self.scene.instances[0].attributes:
            return self.scene.inputs(name)
        if default:
            return default[0]
        raise Unservable(f"The argument `{name}` is not known.")

    def _module(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if isinstance(module, pyg.MessagePassing):
            if not (len(args) > 1 and args[1] == Attribute("edge_index")):
                kwargs = _require_edge_index(kwargs)
            return run_layer(self.scene, module, args, kwargs)
        if isinstance(module, pyg.aggr.Aggregation):
            return self._aggregate(module, args, kwargs)
        return self._rowwise(module, args, kwargs, treats_rows(module))

    def _function(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if function is getattr and isinstance(args[0], Graphs):
            return self._object_attribute(args[1])
        if function is scatter:
            return self._scatter(*args, **kwargs)
        known = function in _ROW_FUNCTIONS or _along_last_dim(function, args, kwargs)
        return self._rowwise(function, args, kwargs, known)

    def _method(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        def call(own: Tensor, *others: Any, **named: Any) -> Any:
            return getattr(own, name)(*others, **named)

        last = name in _LAST_DIM_METHODS and _last(kwargs.get("dim", (*args, None)[1]))
        return self._rowwise(call, args, kwargs, name in _ROW_METHODS or last)

    def _object_attribute(self, name: str) -> Any:
        if name in ("edge_index", "batch"):
            return Attribute(name)
        if name in self.scene.instances[0].attributes:
            return self.scene.inputs(name)
        if getattr(self.scene.instances[0].data, name, Graphs) is None:
            return None  # an optional attribute, such as `edge_attr`, that the graphs lack
        raise Unservable(f"The attribute `{name}` is not known.")

    def _rowwise(
        self, call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], known: bool
    ) -> Any:
        """Apply an operation to the values of states; on candidates' rows it may be anything."""
        states: list[State] = []
        _visit((args, kwargs), states)
        if not states:
            return call(*args, **kwargs)
        if not known:
            raise Unservable(f"{getattr(call, '__name__', type(call).__name__)} mixes rows.")
        aligned = self.scene.align(states)
        replace = {id(old): new.value for old, new in zip(states, aligned, strict=True)}
        args, kwargs = _replaced(args, replace), _replaced(kwargs, replace)
        return aligned[0].with_value(call(*args, **kwargs))

    def _scatter(
        self,
        src: Any,
        index: Any,
        dim: int = 0,
        dim_size: Any = None,
        reduce: str = "sum",
    ) -> Tensor:
        """Pool nodes by `batch`, which is what PyG's global pooling functions come down to."""
        _require_batch((src, index), {}, "index")
        if dim not in (0, -2) or reduce not in _REDUCTIONS:
            raise Unservable(f"scatter with reduce={reduce!r} is not a read-out that is known.")
        return Readout(self.scene, src).pool(_REDUCTIONS[reduce])

    def _aggregate(
        self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Tensor:
        _require_batch(args, kwargs, "index")
        state = args[0] if args else kwargs["x"]
        if type(module) in _POOL_MODULES:
            return Readout(self.scene, state).pool(_POOL_MODULES[type(module)])
        if type(module) is pyg.AttentionalAggregation:
            return self._attend(module, state)
        raise Unservable(f"{type(module).__name__} is not a read-out that is known.")

    def _attend(self, module: Any, state: State) -> Tensor:
        if not all(treats_rows(m) for m in (module.gate_nn, module.nn) if m is not None):
            raise Unservable("The gate of an attention mixes rows.")
        gate = module.gate_nn(state.value)
        value = state.value if module.nn is None else module.nn(state.value)
        return Readout(self.scene, state.with_value(value)).attention(gate)

    def _result(self, value: Any) -> Tensor:
        if isinstance(value, State):
            if self.scene.instances[0].node is None:
                raise Unservable("The model predicts nodes.")
            value = explained_rows(self.scene, value)
        elif self.scene.instances[0].node is not None or not isinstance(value, Tensor):
            raise Unservable("The model's output is not known.")
        return value[:, None] if value.dim() == 1 else value


def treats_rows(module: nn.Module) -> bool:
    """Tell whether a module in evaluation mode treats every row of a matrix for itself."""
    if isinstance(module, (nn.Sequential, nn.ModuleList)):
        return all(treats_rows(each) for each in module)
    if isinstance(module, pyg.BatchNorm):
        return treats_rows(module.module)
    if isinstance(module, nn.BatchNorm1d):
        return module.running_mean is not None
    if isinstance(module, pyg.LayerNorm):
        return bool(module.mode == "node")
    if isinstance(module, pyg.JumpingKnowledge):
        return module.mode in ("cat", "max")
    if isinstance(module, pyg.MLP):
        return all(treats_rows(norm) for norm in module.norms)
    return type(module) in _ROW_MODULES


def _along_last_dim(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    if function not in _LAST_DIM_FUNCTIONS:
        return False
    place = 2 if function is F.normalize else 1
    default = _LAST_DIM_FUNCTIONS[function]
    return _last(kwargs.get("dim", args[place] if len(args) > place else default))


def _last(dim: Any) -> bool:
    return dim in (-1, 1)


def _require_edge_index(kwargs: dict[str, Any]) -> dict[str, Any]:
    if kwargs.get("edge_index") != Attribute("edge_index"):
        raise Unservable("A layer passes messages along edges that are not the graph's.")
    return kwargs


def _require_batch(args: tuple[Any, ...], kwargs: dict[str, Any], name: str) -> None:
    given = args[1] if len(args) > 1 else kwargs.get(name)
    if given != Attribute("batch") or not isinstance((args or (kwargs.get("x"),))[0], State):
        raise Unservable("A read-out does not pool nodes by `batch`.")


def _visit(value: Any, states: list[State]) -> None:
    if isinstance(value, State):
        states.append(value)
    elif isinstance(value, (Attribute, Graphs)):
        raise Unservable("An operation reads the structure of the graph.")
    elif isinstance(value, dict):
        _visit(tuple(value.values()), states)
    elif isinstance(value, (tuple, list)):
        for each in value:
            _visit(each, states)


def _replaced(value: Any, replace: dict[int, Tensor]) -> Any:
    if isinstance(value, State):
        return replace[id(value)]
    if isinstance(value, dict):
        return {k: _replaced(v, replace) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(_replaced(each, replace) for each in value)
    return value
