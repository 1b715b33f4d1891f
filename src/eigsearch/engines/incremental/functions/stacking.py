"""Stacks of state tensors: values of nodes by relation, to reduce over relations.

The entries of a stack are its second dimension, so the only functions that it supports are those
that remove the first one again, as `HeteroConv` does.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from eigsearch.engines.incremental.errors import NotServed
from eigsearch.engines.incremental.functions.alignment import align
from eigsearch.engines.incremental.functions.rowwise import wrap
from eigsearch.engines.incremental.state_tensor import Function, Run, StackedTensor, StateTensor

_REDUCTIONS = {"sum", "mean", "max", "min", "amax", "amin", "prod", "std", "var", "logsumexp"}


def stack(run: Run, tensors: list[Any]) -> StackedTensor:
    """Return the stack of state tensors of the same nodes or edges."""
    if not all(isinstance(tensor, StateTensor) for tensor in tensors):
        raise NotServed("The model concatenates or stacks nodes or edges with other rows.")
    entries, values = align(run, tensors)
    values = [value.expand(entries.count, *value.shape[1:]) for value in values]
    return run.stacked(run.state(entries, torch.stack(values, dim=1)))


def stacked_rule(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Apply a function of a stack that leaves one value for each entry."""
    tensor, name = args[0], func.__name__
    if not isinstance(tensor, StackedTensor):
        raise NotServed("The model stacks nodes or edges, and does more than reduce the stack.")
    state = tensor.state
    given = (*args[1:], *kwargs.values())
    if name in _REDUCTIONS and given in ((0,), (-tensor.dim(),)):
        return wrap(run, state.entries, func(state.value, dim=1))
    if name in ("__getitem__", "select") and type(given[-1]) is int and given[:-1] in ((), (0,)):
        return wrap(run, state.entries, state.value[:, given[-1]])
    if name in ("unbind", "__iter__") and given in ((), (0,)):
        rows: Any = [wrap(run, state.entries, each) for each in Tensor.unbind(state.value, 1)]
        return iter(rows) if name == "__iter__" else tuple(rows)
    raise NotServed("The model stacks nodes or edges, and does more than reduce the stack.")
