"""How a model is called: its arguments by name, its state restored afterwards."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data
from torch_geometric.nn import Sequential, SortAggregation
from torch_geometric.typing import SparseTensor

from eigsearch.errors import InputError, ModelError, UnsupportedError

Forward = Callable[[Any, Batch], Tensor]

_PROVIDED = {"x", "edge_index", "batch", "batch_size", "ptr"}


class ModelCall:
    """Calls a PyG-style model on a batch, by the argument names in its signature.

    A model whose forward takes one object is called as `model(batch)`; any other gets the
    attributes that it names (`x`, `edge_index`, `batch`, `edge_attr`, …). `forward` replaces all
    of that by a callable `(model, batch) -> output`.
    """

    def __init__(self, model: Any, forward: Forward | None = None) -> None:
        if not callable(model):
            raise InputError(
                f"Expected `model` to be callable (got {type(model).__name__}). "
                "Pass a torch.nn.Module that predicts."
            )
        self.model = model
        self._forward = forward
        self._parameters = _checked_parameters(model) if forward is None else {}
        self.takes_object = forward is not None or _takes_object(self._parameters)
        self._accepted: set[tuple[str, ...]] = set()  # names of attributes that were enough

    @property
    def custom(self) -> bool:
        """Whether the user calls the model in a way of their own."""
        return self._forward is not None

    @property
    def takes_batch(self) -> bool:
        """Whether the model can tell the graphs of a batch apart."""
        return self.takes_object or "batch" in self._parameters

    def needs(self, key: str) -> bool:
        """Tell whether the model may read this attribute of a graph."""
        return self.takes_object or key in self._parameters

    @cached_property
    def sorts_nodes(self) -> bool:
        """Whether the model pools nodes by sorting them."""
        modules = self.model.modules() if isinstance(self.model, torch.nn.Module) else ()
        return any(isinstance(module, SortAggregation) for module in modules)

    def check(self, data: Data) -> None:
        """Refuse a graph that lacks an argument which the model requires, or has a sparse one."""
        names = tuple(data.keys())
        if names in self._accepted:
            return
        self._check_dense(data)
        if not self.takes_object:
            self._check_arguments(data, names)
        self._accepted.add(names)

    def _check_dense(self, data: Data) -> None:
        """Refuse attributes that cannot be cut; a sparse adjacency would keep what was removed."""
        for name, value in data.items():
            sparse = isinstance(value, Tensor) and value.layout is not torch.strided
            if (sparse or isinstance(value, SparseTensor)) and self.needs(name):
                raise UnsupportedError(
                    f"Expected the attributes that the model may read to be dense (got a sparse "
                    f"`{name}`). Convert features with .to_dense(); of an adjacency, leave the "
                    f"edges to `edge_index` and remove it: del data.{name}."
                )

    def _check_arguments(self, data: Data, names: tuple[str, ...]) -> None:
        for name, parameter in self._parameters.items():
            required = parameter.default is inspect.Parameter.empty
            if required and name not in _PROVIDED | set(names):
                raise InputError(
                    f"Expected the graph to have `{name}`, which the model's forward requires "
                    f"(got {', '.join(sorted(names))}). Set `data.{name}`, or pass "
                    "`forward=lambda model, batch: …` to call the model your way."
                )
        if "x" in self._parameters and data.get("x") is None:
            raise InputError(
                "Expected the graph to have node features `x` (got none). Set `data.x`."
            )

    def __call__(self, batch: Batch) -> Tensor:
        """Return the model's output for a batch."""
        if self._forward is not None:
            output = self._forward(self.model, batch)
        elif self.takes_object:
            output = self.model(batch)
        else:
            output = self.model(**self._arguments(batch))
        if not isinstance(output, Tensor):
            raise ModelError(
                f"Expected the model to return a tensor (got {type(output).__name__}). "
                "Pass `forward=lambda model, batch: …` to pick the scores."
            )
        return output

    def _arguments(self, batch: Batch) -> dict[str, Any]:
        arguments = {}
        for name in self._parameters:
            if name == "batch_size":
                arguments[name] = batch.num_graphs
            elif name in batch:
                arguments[name] = batch[name]
        return arguments


def parameters_of(model: Any) -> dict[str, inspect.Parameter]:
    """Return the named parameters of a model, those of what it wraps where it has none itself.

    None at all where the model keeps them to itself, as those compiled by TorchScript do.
    """
    if isinstance(model, partial):
        free = list(parameters_of(model.func).items())[len(model.args) :]
        return {name: parameter for name, parameter in free if name not in model.keywords}
    model = getattr(model, "_orig_mod", model)  # what torch.compile wraps
    if isinstance(model, Sequential):  # takes anything, and knows the names by itself
        names = model.signature.param_dict
        return {n: inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in names}
    inside = getattr(model, "module", None)  # what DataParallel and its like wrap
    own = _own_parameters(model.forward if isinstance(model, torch.nn.Module) else model)
    return own if own or inside is None else parameters_of(inside)


def unwrap_partial(model: Any) -> Any:
    """Return the model that arguments were bound to by `functools.partial`, or the model itself."""
    return unwrap_partial(model.func) if isinstance(model, partial) else model


def _own_parameters(forward: Any) -> dict[str, inspect.Parameter]:
    try:
        parameters = inspect.signature(forward).parameters
    except (TypeError, ValueError):  # not written in Python
        return {}
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {name: each for name, each in parameters.items() if each.kind not in variadic}


def _checked_parameters(model: Any) -> dict[str, inspect.Parameter]:
    parameters = parameters_of(model)
    if not parameters:
        raise InputError(
            f"Expected the model's forward to name its arguments (got {type(model).__name__}, "
            "which names none). Pass `forward=lambda model, batch: …` to call the model your way."
        )
    return parameters


def _takes_object(parameters: dict[str, inspect.Parameter]) -> bool:
    required = [n for n, p in parameters.items() if p.default is inspect.Parameter.empty]
    return len(required) == 1 and not {"x", "edge_index"} & set(parameters)
