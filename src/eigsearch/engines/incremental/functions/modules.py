"""Functions that modules call: products, norms, embeddings and recurrent cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from eigsearch.engines.incremental.errors import NotServed
from eigsearch.engines.incremental.functions.alignment import align
from eigsearch.engines.incremental.functions.rowwise import rowwise, states_among, substituted, wrap
from eigsearch.engines.incremental.state_tensor import (
    Count,
    Function,
    LiftedTensor,
    Run,
    StateTensor,
)


def plain_but(tensors: Sequence[Any]) -> None:
    """Raise NotServed if parameters are values of nodes or edges."""
    if any(isinstance(tensor, (LiftedTensor, Count)) for tensor in tensors):
        raise NotServed(
            "The model passes values of nodes or edges, or their number, where parameters are "
            "expected."
        )


def linear(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Handle `linear` and other functions of rows of features and plain parameters."""
    name = kwargs.get("input", args[0] if args else None)
    if not isinstance(name, StateTensor) or name.dim() < 2:
        raise NotServed("The model computes across nodes or edges, not on each one alone.")
    others = [value for value in (*args, *kwargs.values()) if value is not name]
    plain_but(others)
    return rowwise(run, func, args, kwargs, [name])


def matmul(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Handle matrix products of each row's features, or of a matrix for each row."""
    left, right = args if func.__name__ != "__rmatmul__" else args[::-1]
    states = states_among((left, right))
    if len(states) == 2:
        apart = left.dim() == right.dim() >= 3
    elif states[0] is left:
        apart = left.dim() >= 2 and (right.dim() <= 2 or right.dim() < left.dim())
    else:
        apart = right.dim() >= 3 and left.dim() < right.dim()
    if not apart or kwargs:
        raise NotServed("The model multiplies matrices across nodes or edges, as in `x.t() @ x`.")
    return rowwise(run, torch.matmul, (left, right), {}, states)


def addmm(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Handle `addmm` of rows and a plain matrix."""
    own, left, right = args
    states = states_among((own, left))
    if not isinstance(left, StateTensor) or any(state.dim() != 2 for state in states):
        raise NotServed("The model multiplies matrices across nodes or edges, as in `x.t() @ x`.")
    if not isinstance(own, StateTensor) and own.dim() == 2 and own.size(0) != 1:
        raise NotServed(
            "The model combines values of nodes or edges with a tensor that has several rows of "
            "its own."
        )
    plain_but([right])
    return rowwise(run, func, args, kwargs, states)


def einsum(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Handle `einsum` if entries are the first index of state tensors and result."""
    equation, *operands = args
    operands = list(operands[0]) if isinstance(operands[0], (list, tuple)) else operands
    inputs, _, output = equation.replace(" ", "").partition("->")
    subscripts, states = inputs.split(","), states_among(operands)
    letter = output[:1]
    for subscript, operand in zip(subscripts, operands, strict=True):
        leads = subscript[:1] == letter and letter not in subscript[1:]
        if leads if not isinstance(operand, StateTensor) else not leads:
            raise NotServed(
                "The model sums across nodes or edges, or they are not the first index."
            )
    if not letter.isalpha() or any(
        letter in s
        for s, o in zip(subscripts, operands, strict=True)
        if not isinstance(o, StateTensor)
    ):
        raise NotServed("The model sums across nodes or edges, or they are not the first index.")
    entries, values = align(run, states)
    rows = iter(value.expand(entries.count, *value.shape[1:]) for value in values)
    taken = [next(rows) if isinstance(operand, StateTensor) else operand for operand in operands]
    return wrap(run, entries, torch.einsum(equation, *taken))


def batch_norm(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Handle `batch_norm` with running statistics."""
    given = dict(zip(("input", "mean", "var", "weight", "bias", "training"), args, strict=False))
    training = kwargs.get("training", given.get("training", False))
    if training or kwargs.get("running_mean", given.get("mean")) is None:
        raise NotServed(
            "The model normalises with statistics of the batch, because it is in training mode or "
            "has no running ones."
        )
    return linear(run, func, args, kwargs)


def layer_norm(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Handle `layer_norm` and `rms_norm` along features."""
    shape = kwargs.get("normalized_shape", args[1] if len(args) > 1 else ())
    if len(shape) >= args[0].dim():
        raise NotServed("The model normalises across nodes or edges, not each one alone.")
    return linear(run, func, args, kwargs)


def embedding(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Handle `embedding` of integer rows in a plain table."""
    if kwargs.get("max_norm", args[3] if len(args) > 3 else None) is not None:
        raise NotServed(
            "The model rescales the embedding table when it reads it, because `max_norm` is set."
        )
    plain_but(args[1:])
    return rowwise(run, func, args, kwargs, states_among(args[:1]))


def one_hot(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Handle `one_hot` of a given width."""
    classes = kwargs.get("num_classes", args[1] if len(args) > 1 else -1)
    if isinstance(classes, Count) or classes < 0:
        raise NotServed(
            "The model leaves `num_classes` to be found from the values of nodes or edges."
        )
    return rowwise(run, func, args, kwargs, states_among(args[:1]))


def cell(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Handle recurrent cells: one step for each row."""
    states = states_among(args)
    if not all(state.dim() == 2 for state in states) or isinstance(args[0], (list, tuple)):
        raise NotServed(
            "The model calls a recurrent cell with something else than one row of features for "
            "each node or edge."
        )
    hidden = args[1] if isinstance(args[1], (list, tuple)) else (args[1],)
    if not all(isinstance(value, StateTensor) for value in (args[0], *hidden)):
        raise NotServed(
            "The model calls a recurrent cell with a tensor that is not one of nodes or edges."
        )
    entries, values = align(run, states)
    rows = {
        id(state): value.expand(entries.count, -1)
        for state, value in zip(states, values, strict=True)
    }
    return wrap(run, entries, func(*substituted(args, rows), **kwargs))


def dropout(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Handle `dropout` that is off."""
    if kwargs.get("training", args[2] if len(args) > 2 else True):
        raise NotServed("The model draws random numbers, because dropout is active.")
    return args[0]
