"""Functions that work row by row: pointwise, or along other dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from eigsearch.engines.incremental.errors import NotServed
from eigsearch.engines.incremental.functions.alignment import align, whole
from eigsearch.engines.incremental.functions.row_tables import ALONG_DIM
from eigsearch.engines.incremental.index.state_table import Messages
from eigsearch.engines.incremental.index.timelines import EdgeList
from eigsearch.engines.incremental.layout import Layout
from eigsearch.engines.incremental.state_tensor import (
    Count,
    Function,
    IndexTensor,
    Run,
    StateTensor,
)


def states_among(values: Any) -> list[StateTensor]:
    """Return the state tensors among arguments, also within lists."""
    states: list[StateTensor] = []
    for value in values:
        kind = type(value)  # much faster than `isinstance`, and there are no subclasses
        if kind is StateTensor:
            states.append(value)
        elif kind is list or kind is tuple:
            states += states_among(value)
        elif kind is IndexTensor or kind is Count:
            raise NotServed(
                "The model computes with node numbers, `batch`, or the number of nodes or edges."
            )
    return states


def rowwise(
    run: Run, func: Function, args: Sequence[Any], kwargs: dict[str, Any], states: list[StateTensor]
) -> Any:
    """Apply a function to the distinct rows of all state tensors, laid out alike."""
    if len(states) == 1:
        state = whole(run, states[0])
        if args and args[0] is states[0]:
            return wrap(run, state.entries, func(state.value, *args[1:], **kwargs))
        entries, rows = state.entries, {id(states[0]): state.value}
    else:
        entries, values = align(run, states)
        rows = {id(state): value for state, value in zip(states, values, strict=True)}
    if kwargs:
        kwargs = {key: substituted(value, rows) for key, value in kwargs.items()}
    return wrap(run, entries, func(*substituted(args, rows), **kwargs))


def substituted(value: Any, rows: dict[int, Tensor]) -> Any:
    """Return arguments with state tensors replaced by their rows."""
    if isinstance(value, StateTensor):
        return rows[id(value)]
    if isinstance(value, (tuple, list)):
        return type(value)([substituted(item, rows) for item in value])
    return value


def wrap(run: Run, entries: Layout, result: Any) -> Any:
    """Return the rows that a function returned as state tensors."""
    if isinstance(result, Tensor):
        if result.shape[:1] != (entries.count,):
            raise NotServed("The result does not have one row for each node or edge.")
        return run.state(entries, result)
    if isinstance(result, (tuple, list)):
        items = tuple(wrap(run, entries, item) for item in result)
        return type(result)(items) if hasattr(result, "values") else items
    raise NotServed("The result is not a tensor.")


def pointwise(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Apply a pointwise function; plain tensors must not vary between entries."""
    if kwargs:
        args, kwargs, keeper = _without_inplace(args, kwargs)
        if keeper is not None:
            return keeper.assign(pointwise(run, func, args, kwargs))
    if func.__name__ == "where" and len(args) + len(kwargs) < 3:
        raise NotServed("The model asks at which nodes or edges a condition holds.")
    values = (*args, *kwargs.values()) if kwargs else args
    states = states_among(values)
    if len(values) > 1:
        _require_alike([value for value in values if isinstance(value, Tensor)])
    if len(states) == 2 and func.__name__ in ("mul", "__mul__", "__rmul__"):
        scaled = _scaled(run, *states)
        if scaled is not None:
            return scaled
    return rowwise(run, func, args, kwargs, states)


def _require_alike(tensors: Sequence[Tensor]) -> None:
    """Raise NotServed if tensors would be broadcast along entries."""
    ndim = max(tensor.dim() for tensor in tensors)
    for tensor in tensors:
        if isinstance(tensor, StateTensor):
            if tensor.dim() != ndim:
                raise NotServed(
                    "The model broadcasts tensors so that nodes or edges are no longer the first "
                    "dimension."
                )
        elif tensor.dim() == ndim and tensor.size(0) != 1:
            raise NotServed(
                "The model combines values of nodes or edges with a tensor that has several rows "
                "of its own."
            )


def _without_inplace(
    args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any], StateTensor | None]:
    """Return the arguments without `inplace`, and the tensor that takes the result."""
    if kwargs.get("out") is not None or kwargs.get("training") is True:
        raise NotServed(
            "The model passes `out`, or `training=True` to an operation that then draws random "
            "numbers."
        )
    if kwargs.get("inplace"):
        if args[0].shared:
            raise NotServed("The model changes a tensor in place while a view of it may be in use.")
        return args, {**kwargs, "inplace": False}, args[0]
    return args, kwargs, None


def _scaled(run: Run, left: StateTensor, right: StateTensor) -> StateTensor | None:
    """Return messages with a deferred factor of one column; None if it does not apply."""
    if max(left.shape[1:], default=1) > 1:
        left, right = right, left
    if (
        max(left.shape[1:], default=1) > 1
        or left.factor is not None
        or right.factor is not None
        or left.entries is right.entries
        or min(left.entries.count, right.entries.count) == 1
        or not isinstance(right.entries.space, Messages)
        or not isinstance(left.entries.space, (Messages, EdgeList))
        or left.dtype != right.dtype
    ):
        return None
    return run.state(right.entries, right.value, left)


def along_dim(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Apply a function that works along dimensions other than the first."""
    position, default = ALONG_DIM[func.__name__]
    if len(args) > 1 and isinstance(args[1], Tensor) and func.__name__ in ("max", "min"):
        return pointwise(run, func, args, kwargs)
    dims = kwargs.get(
        "dim", kwargs.get("dims", args[position] if len(args) > position else default)
    )
    if func.__name__ == "flip":
        dims = given_sizes(args[1:]) or dims
    states = states_among((*args, *kwargs.values()))
    _require_inner(dims, states[0].dim())
    if len(states) > 1 and func.__name__ not in ("cosine_similarity", "pairwise_distance"):
        raise NotServed(
            "The model passes several tensors of nodes or edges to an operation along one "
            "dimension."
        )
    if any(isinstance(a, Tensor) and not isinstance(a, StateTensor) for a in args):
        raise NotServed(
            "The model combines values of nodes or edges with a tensor that is not one of nodes "
            "or edges."
        )
    return rowwise(run, func, args, kwargs, states)


def _require_inner(dims: Any, ndim: int) -> None:
    """Raise NotServed unless dimensions are given and the first is not among them."""
    if dims is None or any(
        d % ndim == 0 for d in (dims if isinstance(dims, (tuple, list)) else (dims,))
    ):
        raise NotServed("The model computes across nodes or edges, not on each one alone.")


def given_sizes(args: Sequence[Any]) -> tuple[Any, ...]:
    """Return sizes that are given as single arguments or as one tuple."""
    return tuple(args[0]) if len(args) == 1 and isinstance(args[0], (tuple, list)) else tuple(args)
