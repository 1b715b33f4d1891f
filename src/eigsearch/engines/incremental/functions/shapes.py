"""Shapes: views, broadcasts and joins that keep the entries as first dimension."""

from __future__ import annotations

import math
from typing import Any

import torch

from eigsearch.engines.incremental.edge_layouts import with_loops
from eigsearch.engines.incremental.errors import NotServed
from eigsearch.engines.incremental.functions.alignment import align, whole
from eigsearch.engines.incremental.functions.making import make_expanded
from eigsearch.engines.incremental.functions.rowwise import given_sizes
from eigsearch.engines.incremental.functions.stacking import stack
from eigsearch.engines.incremental.index.state_table import Messages, StateTable
from eigsearch.engines.incremental.index.timelines import EdgeList
from eigsearch.engines.incremental.state_tensor import (
    Function,
    IndexTensor,
    Run,
    StateTensor,
)


def joining(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Handle `cat` and `stack` along features, or to append self-loops to edges."""
    tensors = list(args[0] if args else kwargs["tensors"])
    dim = kwargs.get("dim", args[1] if len(args) > 1 else 0)
    stacks = func.__name__ == "stack"
    if any(isinstance(tensor, IndexTensor) for tensor in tensors):
        return _join_structure(run, tensors, dim, stacks)
    ndim = tensors[0].dim() + stacks
    if not stacks and dim % ndim == 0 and len(tensors) == 2:
        return _append_loops(run, *tensors)
    if stacks and dim % ndim == 0:
        return stack(run, tensors)
    if dim % ndim == 0 or not all(isinstance(tensor, StateTensor) for tensor in tensors):
        raise NotServed("The model concatenates or stacks nodes or edges with other rows.")
    entries, values = align(run, tensors)
    values = [value.expand(entries.count, *value.shape[1:]) for value in values]
    return run.state(entries, func(values, dim=dim))


def _join_structure(run: Run, tensors: list[Any], dim: int, stacks: bool) -> IndexTensor:
    if len(tensors) != 2 or not all(isinstance(tensor, IndexTensor) for tensor in tensors):
        raise NotServed("The model builds an index from `edge_index`, `batch` or node numbers.")
    first, last = tensors
    roles = first.role, last.role
    ends = roles == ("end", "end") and first.edges is last.edges and first.side != last.side
    if stacks and dim == 0 and ends:
        return run.index("edge_index", first.edges, first.side)
    alike = first.kind == last.kind
    if stacks and dim == 0 and roles == ("nodes", "nodes") and alike:
        return run.index("loops", kind=first.kind)
    if stacks and dim == 0 and roles == ("nodes", "batch") and alike:
        return run.index("membership", kind=first.kind)
    appends = roles in (("edge_index", "loops"), ("end", "nodes"))
    if not stacks and dim in (-1, len(first.shape) - 1) and appends:
        if first.edges.kinds != (last.kind, last.kind):
            raise NotServed("The model adds self-loops of one node type to edges of another.")
        looped = run.context.once(run.context.with_loops, first.edges)
        return run.index(first.role, looped, first.side)
    raise NotServed("The model builds an index from `edge_index`, `batch` or node numbers.")


def _append_loops(run: Run, edge: Any, node: Any) -> StateTensor:
    """Return values of edges followed by those of nodes, for their self-loops."""
    if not (isinstance(edge, StateTensor) and isinstance(node, StateTensor)):
        raise NotServed("The model concatenates or stacks nodes or edges with other rows.")
    edge, node, context = whole(run, edge), whole(run, node), run.context
    space, table = edge.entries.space, node.entries.space
    if not isinstance(space, (EdgeList, Messages)) or not isinstance(table, StateTable):
        raise NotServed("The model concatenates or stacks nodes or edges with other rows.")
    entries = context.once(with_loops, context, edge.entries, node.entries)
    return run.state(entries, torch.cat([edge.value, node.value]))


def view(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Handle `view` and `reshape` that keep the entries as first dimension."""
    tensor, sizes = (
        args[0],
        given_sizes(args[1:]) or tuple(kwargs.get("size", kwargs.get("shape", ()))),
    )
    if isinstance(tensor, IndexTensor):
        return _view_structure(run, tensor, sizes)
    if not isinstance(tensor, StateTensor) or not sizes or isinstance(sizes[0], torch.dtype):
        raise NotServed(
            "The model reshapes a tensor of nodes or edges in a way that the incremental engine "
            "does not know."
        )
    width, given = math.prod(tensor.shape[1:]), math.prod(sizes[1:])
    leads = sizes[0] == -1 if not run.stands_for(sizes[0]) else sizes[0] == tensor.shape[0]
    if not leads or (given != width if -1 not in sizes[1:] else sizes[0] == -1):
        raise NotServed("The model reshapes a tensor across nodes or edges.")
    state, rest = whole(run, tensor), list(sizes[1:])
    if -1 in rest:
        rest[rest.index(-1)] = width // -given if given else 0
    return run.state(state.entries, state.value.reshape(state.entries.count, *rest))


def _view_structure(run: Run, index: IndexTensor, sizes: tuple[Any, ...]) -> IndexTensor:
    if index.role in ("end", "batch", "nodes") and len(index.shape) == 1:
        if sizes == (1, -1) and index.role == "nodes":
            return run.reshaped(index, torch.Size((1, index.shape[0])))
        if sizes[0] in (-1, index.shape[0]) and all(size == 1 for size in sizes[1:]):
            return run.reshaped(index, torch.Size((index.shape[0], *sizes[1:])))
    if sizes == (-1,) and index.role in ("end", "batch") and math.prod(index.shape[1:]) == 1:
        return run.reshaped(index, index.shape[:1])
    raise NotServed("The model reshapes `edge_index`, `batch` or another index.")


def expand(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Handle `expand`, `expand_as`, `broadcast_to` and `repeat` of features."""
    tensor, sizes = args[0], given_sizes(args[1:]) or tuple(kwargs["size"])
    if func.__name__ == "expand_as":
        sizes = tuple(args[1].shape)
    if isinstance(tensor, IndexTensor):
        return _expand_structure(run, func.__name__, tensor, sizes)
    if not isinstance(tensor, StateTensor):
        return make_expanded(run, func, args, kwargs)
    first = (1,) if func.__name__ == "repeat" else (-1, tensor.shape[0])
    if len(sizes) != tensor.dim() or sizes[0] not in first:
        raise NotServed("The model repeats nodes or edges, or expands them along a new dimension.")
    state = whole(run, tensor)
    if func.__name__ == "repeat":
        return run.state(state.entries, state.value.repeat(*sizes))
    return run.state(state.entries, state.value.expand(-1, *sizes[1:]))


def _expand_structure(
    run: Run, name: str, index: IndexTensor, sizes: tuple[Any, ...]
) -> IndexTensor:
    turned = index.role == "nodes" and len(index.shape) == 2
    if turned and sizes in ((2, 1), (2, -1), (2, run.num_nodes(index.kind))):
        return run.index("loops", kind=index.kind)
    fits = len(sizes) == len(index.shape) and sizes[0] in (-1, index.shape[0])
    if name != "repeat" and fits and index.role in ("end", "batch"):
        return run.reshaped(index, torch.Size((index.shape[0], *sizes[1:])))
    raise NotServed("The model reshapes `edge_index`, `batch` or another index.")


def dimensions(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Handle `unsqueeze`, `squeeze`, `flatten`, `transpose` and `permute` of features."""
    name, tensor = func.__name__, args[0]
    given = (*args[1:], *kwargs.values())
    if isinstance(tensor, IndexTensor):
        if name == "unsqueeze" and given[0] % (tensor.dim() + 1):
            return run.reshaped(tensor, torch.Size((*tensor.shape, 1)))
        if name == "unsqueeze" and tensor.role == "nodes" and tensor.dim() == 1:
            return run.reshaped(tensor, torch.Size((1, *tensor.shape)))
        raise NotServed("The model reshapes `edge_index`, `batch` or another index.")
    ndim = tensor.dim() + (name == "unsqueeze")
    dims = list(given_sizes(given))
    if name == "squeeze" and not dims:
        dims = [d for d in range(1, ndim) if tensor.shape[d] == 1]
    if name == "flatten":
        dims = dims[:1] or [0]
    if name == "permute":
        if dims[0] % ndim:
            raise NotServed("The model reshapes a tensor across nodes or edges.")
    elif any(dim % ndim == 0 for dim in dims):
        raise NotServed("The model reshapes a tensor across nodes or edges.")
    state = whole(run, tensor)
    if name == "squeeze":
        return run.state(state.entries, state.value.squeeze(tuple(dims)))
    return run.state(state.entries, func(state.value, *args[1:], **kwargs))
