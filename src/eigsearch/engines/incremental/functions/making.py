"""Tensors that a model creates: one row stands for all nodes or edges."""

from __future__ import annotations

from typing import Any

import torch

from eigsearch.engines.incremental.errors import NotServed
from eigsearch.engines.incremental.functions.rowwise import given_sizes, states_among
from eigsearch.engines.incremental.layout import Pairs
from eigsearch.engines.incremental.state_tensor import (
    Function,
    IndexTensor,
    Run,
    StateTensor,
)


def make_filled(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Handle `zeros`, `new_ones`, `full` and the like: one row for all nodes or edges."""
    name = func.__name__
    own = name.startswith("new_")
    sizes = args[1:] if own else args
    if "full" in name:
        sizes, fill = (sizes[0] if sizes else kwargs["size"],), sizes[1:]
        sizes = given_sizes(sizes)
    else:
        sizes, fill = given_sizes(sizes) or tuple(kwargs.get("size", ())), ()
    rest = {key: value for key, value in kwargs.items() if key != "size"}
    like = args[0].value if own and isinstance(args[0], StateTensor) else None
    if own and like is None:
        like = (
            torch.empty(0, dtype=args[0].dtype, device=args[0].device)
            if isinstance(args[0], IndexTensor)
            else args[0]
        )
    make = (
        getattr(like, name.replace("empty", "zeros"))
        if own
        else getattr(torch, name.replace("empty", "zeros"))
    )
    if sizes and run.stands_for(sizes[0]):
        if any(run.stands_for(size) for size in sizes[1:]) or states_among(fill):
            raise NotServed(
                "The model creates a tensor with nodes or edges in two dimensions, such as a "
                "dense adjacency matrix."
            )
        return run.constant(make((1, *sizes[1:]), *fill, **rest), sizes[0])
    if any(run.stands_for(size) for size in sizes):
        raise NotServed(
            "The model creates a tensor with nodes or edges in another dimension than the first."
        )
    return make(sizes, *fill, **rest)


def make_like(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Handle `zeros_like` and the like."""
    tensor, name = args[0], func.__name__.removesuffix("_like")
    if tensor.dim() > 1 and isinstance(tensor, IndexTensor):
        raise NotServed("The model creates a tensor of the shape of `edge_index`.")
    if isinstance(tensor, StateTensor) and isinstance(tensor.entries.space, Pairs):
        raise NotServed(
            "The model creates a tensor of the shape of values that depend on the whole graph, "
            "such as `pooled[batch]`."
        )
    kwargs = {"dtype": tensor.dtype, "device": tensor.device, **kwargs}
    size = (1, *tensor.shape[1:])
    make = getattr(torch, name.replace("empty", "zeros"))
    return run.constant(make(size, *args[1:], **kwargs), tensor.shape[0])


def _make_range(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Handle `arange` up to the number of nodes, which gives their numbers."""
    given = (*args, *[kwargs[name] for name in ("start", "end", "step") if name in kwargs])
    if not any(run.stands_for(value) for value in given):
        return func(*args, **kwargs)
    bounds = given if len(given) > 1 else (0, *given)
    kind = run.kind_of_nodes(bounds[1])
    if bounds[0] != 0 or kind is None or bounds[2:] not in ((), (1,)):
        raise NotServed(
            "The model counts up to the number of nodes or edges other than to number all nodes "
            "from 0."
        )
    return run.index("nodes", kind=kind)


def make_expanded(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Handle `expand` and `repeat` of a plain tensor to all nodes or edges."""
    tensor, sizes = args[0], given_sizes(args[1:]) or tuple(kwargs.get("size", ()))
    if func.__name__ == "expand_as":
        sizes = tuple(args[1].shape)
    if not any(run.stands_for(size) for size in sizes):
        return func(*args, **kwargs)
    if not run.stands_for(sizes[0]) or (tensor.dim() == len(sizes) and tensor.size(0) != 1):
        raise NotServed(
            "The model repeats a tensor in a way that does not give one equal row for each node "
            "or edge."
        )
    call = getattr(tensor, "repeat" if func.__name__ == "repeat" else "expand")
    return run.constant(call(1, *sizes[1:]), sizes[0])


def _make_random(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if any(run.stands_for(value) for value in (*given_sizes(args), *given_sizes(args[1:]))):
        raise NotServed(
            "The model creates a tensor for nodes or edges whose rows differ by position or at "
            "random."
        )
    return func(*args, **kwargs)


FILLED = ("zeros", "ones", "full", "empty")


MAKERS: dict[str, Function] = {
    **dict.fromkeys([*FILLED, *(f"new_{name}" for name in FILLED)], make_filled),
    **dict.fromkeys(("expand", "repeat", "broadcast_to", "expand_as"), make_expanded),
    **dict.fromkeys(("rand", "randn", "randint", "randperm", "eye", "linspace"), _make_random),
    "arange": _make_range,
}
