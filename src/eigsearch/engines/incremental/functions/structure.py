"""Functions of graph structure: comparisons, extremes, rows and conversions."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from eigsearch.engines.incremental.errors import NotServed
from eigsearch.engines.incremental.functions.aggregation import aggregate
from eigsearch.engines.incremental.functions.alignment import whole
from eigsearch.engines.incremental.functions.indexing import structure_item
from eigsearch.engines.incremental.functions.rowwise import along_dim, given_sizes, pointwise, wrap
from eigsearch.engines.incremental.index.state_table import Messages
from eigsearch.engines.incremental.index.timelines import EdgeList
from eigsearch.engines.incremental.layout import Layout
from eigsearch.engines.incremental.pooling import pool_nodes
from eigsearch.engines.incremental.state_tensor import (
    Function,
    IndexTensor,
    Run,
    StateTensor,
)


def compare_ends(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Handle `row == col`, which marks self-loops; compare values as usual."""
    if not any(isinstance(value, IndexTensor) for value in args):
        return pointwise(run, func, args, kwargs)
    left, right = args
    ends = isinstance(left, IndexTensor) and isinstance(right, IndexTensor)
    if not ends or left.role != "end" or right.role != "end" or left.edges is not right.edges:
        raise NotServed("The model computes with node numbers, which differ between candidates.")
    equal = left.edges.is_loop if left.side != right.side else np.ones(len(left.edges), bool)
    value = torch.tensor([False, True], device=run.context.device)
    wanted = equal if func.__name__ in ("eq", "__eq__") else ~equal
    return run.state(Layout(left.edges, wanted.astype(np.int64), 2), value)


def extreme(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Handle `max` and `min`: of structure the last or 0, of values along a dim."""
    tensor = args[0]
    if isinstance(tensor, StateTensor) and len(args) == 1 and not kwargs:
        return _common_extreme(run, tensor, func.__name__)
    if not isinstance(tensor, IndexTensor):
        return along_dim(run, func, args, kwargs)
    if len(args) > 1 or kwargs or tensor.role in ("loops", "links", "link"):
        raise NotServed("The model uses `edge_index`, `batch` or the like in an unsupported way.")
    if tensor.role == "batch":
        size = run.context.num_candidates
    else:
        size = int(run.num_nodes(_kind_of(tensor)))
    return torch.tensor(size - 1 if func.__name__ == "max" else 0, device=run.context.device)


def _kind_of(index: IndexTensor) -> int:
    """Return the type of the nodes whose numbers a structure tensor holds."""
    if index.edges is None:
        return index.kind
    source, target = index.edges.kinds
    if index.role == "edge_index" and source != target:
        raise NotServed("The model uses `edge_index`, `batch` or the like in an unsupported way.")
    return target if index.side else source


def _common_extreme(run: Run, tensor: StateTensor, mode: str) -> Tensor:
    """Return the extreme value of all entries, if all candidates have the same.

    Nodes without messages count as zero here, so only a maximum above and a minimum below zero are
    certain. If single nodes are explained, nodes out of their reach have no states.
    """
    if run.context.instances[0].anchors:
        raise NotServed(
            "The model takes a maximum or minimum over all nodes or edges, of which only those "
            "near the explained node or link are computed."
        )
    state = (
        along_dim(run, torch.amax if mode == "max" else torch.amin, (tensor, -1), {})
        if tensor.dim() > 1
        else whole(run, tensor)
    )
    space = state.entries.space
    if isinstance(space, (EdgeList, Messages)):
        edges = space if isinstance(space, EdgeList) else space.edges
        state = aggregate(run, state, run.index("end", edges, 1), mode)
    found = pool_nodes(run.context, state.entries, state.value, mode)
    if bool((found != found[0]).any()) or not bool(found[0] > 0 if mode == "max" else found[0] < 0):
        raise NotServed(
            "The model takes a maximum or minimum over all nodes or edges, which may differ "
            "between candidates."
        )
    return found[0]


def is_floating_point(run: Run, func: Function, args: tuple[Any, ...], _: dict[str, Any]) -> bool:
    """Handle `is_floating_point`, by the type of the rows."""
    return bool(args[0].dtype.is_floating_point)


def rows_of_structure(
    run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Handle `unbind`, `flip` and the like of `edge_index`; of values along a dim."""
    tensor, name = args[0], func.__name__
    if not isinstance(tensor, IndexTensor):
        if name == "__iter__":
            raise NotServed("The model loops over nodes or edges in Python.")
        return along_dim(run, func, args, kwargs)
    given = given_sizes((*args[1:], *kwargs.values()))
    if tensor.role in ("edge_index", "links"):
        if name in ("unbind", "__iter__") and given in ((), (0,)):
            ends = [structure_item(run, tensor, side) for side in (0, 1)]
            return iter(ends) if name == "__iter__" else tuple(ends)
        if name == "flip" and given in ((0,), (-2,)):
            return run.turned(tensor)
        if name == "select" and given[0] == 0:
            return structure_item(run, tensor, given[1])
    raise NotServed("The model uses `edge_index`, `batch` or the like in an unsupported way.")


def convert(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Handle copies and conversions, which leave structure unchanged."""
    tensor = args[0]
    if not isinstance(tensor, IndexTensor):
        if isinstance(tensor, StateTensor):
            state = whole(run, tensor)
            others = [v.value if isinstance(v, StateTensor) else v for v in args[1:]]
            return wrap(run, state.entries, func(state.value, *others, **kwargs))
        return func(
            tensor, *[v.value if isinstance(v, StateTensor) else v for v in args[1:]], **kwargs
        )
    if func.__name__ in ("float", "double", "half", "bfloat16", "bool", "type", "type_as"):
        raise NotServed("The model computes with node numbers, which differ between candidates.")
    types = [value for value in (*args[1:], *kwargs.values()) if isinstance(value, torch.dtype)]
    if any(dtype is not torch.long for dtype in types):
        raise NotServed("The model computes with node numbers, which differ between candidates.")
    return tensor
