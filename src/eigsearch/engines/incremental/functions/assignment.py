"""Assignment: to features of all rows, under masks of edges, or at ends of edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from eigsearch.engines.incremental.edge_layouts import replaced
from eigsearch.engines.incremental.errors import NotServed
from eigsearch.engines.incremental.functions.aggregation import aggregate
from eigsearch.engines.incremental.functions.alignment import as_messages, whole
from eigsearch.engines.incremental.functions.indexing import edges_under, is_full, kept_edges
from eigsearch.engines.incremental.functions.modules import plain_but
from eigsearch.engines.incremental.functions.rowwise import pointwise, states_among
from eigsearch.engines.incremental.functions.shapes import view
from eigsearch.engines.incremental.state_tensor import Function, IndexTensor, Run, StateTensor


def _replace_edges(run: Run, old: StateTensor, mask: StateTensor, new: StateTensor) -> StateTensor:
    """Return values of edges, replaced where a mask selects them."""
    edges, old = edges_under(mask), whole(run, old)
    if edges is None:
        raise NotServed("The model assigns to a part of a tensor of nodes or edges.")
    kept = kept_edges(run, mask, edges)
    new = as_messages(run, whole(run, new), kept)
    if run.num_edges(kept) != new.shape[0] or run.num_edges(edges) != old.shape[0]:
        raise NotServed("The model assigns to a part of a tensor of nodes or edges.")
    if kept is edges:
        return new
    entries = run.context.once(replaced, run.context, old.entries, new.entries)
    return run.state(entries, torch.cat([old.value, new.value]))


def setitem(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Handle `x[key] = value`: for features, rows under a mask, or ends of edges."""
    tensor, key, value = args
    if not isinstance(tensor, StateTensor):
        raise NotServed("The model assigns values of nodes or edges to another tensor.")
    if isinstance(key, IndexTensor):
        tensor.assign(_at_ends(run, tensor, key, value))
    elif (
        isinstance(key, StateTensor) and key.dtype == torch.bool and isinstance(value, StateTensor)
    ):
        tensor.assign(_replace_edges(run, tensor, key, value))
    elif isinstance(key, StateTensor) and key.dtype == torch.bool:
        mask = view(run, Tensor.view, (key, -1, *[1] * (tensor.dim() - key.dim())), {})
        tensor.assign(pointwise(run, torch.where, (mask, _scalar(value), tensor), {}))
    else:
        first = key[0] if isinstance(key, tuple) else key
        if not is_full(first) or states_among((value,)):
            raise NotServed("The model assigns to a part of a tensor of nodes or edges.")
        plain_but([value])
        state = whole(run, tensor)
        changed = state.value.clone()
        changed[key] = value
        tensor.assign(run.state(state.entries, changed))


def _scalar(value: Any) -> Any:
    if isinstance(value, Tensor) and value.dim():
        raise NotServed("The model assigns to a part of a tensor of nodes or edges.")
    return value


def _at_ends(run: Run, old: StateTensor, index: IndexTensor, value: Any) -> StateTensor:
    """Return values of nodes, replaced at ends of edges, at most one for each node."""
    edges = index.edges
    if index.role != "end" or edges is None or not isinstance(value, StateTensor):
        raise NotServed("The model assigns to a part of a tensor of nodes or edges.")
    if len(edges) == 0:
        return old
    if old.shape[0] != run.num_nodes(edges.kinds[index.side]):
        raise NotServed(
            "The model assigns to nodes of one type at the ends of edges of another type."
        )
    end = edges.target if index.side else edges.source
    if np.bincount(end).max() > 1:
        raise NotServed("The model assigns several values to one node, at which several edges end.")
    ones = run.constant(torch.ones(1, device=old.device), run.num_edges(edges))
    found = aggregate(run, ones, index, "sum")
    new = aggregate(run, value, index, "sum")
    there = pointwise(run, Tensor.gt, (found, 0), {})
    mask = view(run, Tensor.view, (there, -1, *[1] * (old.dim() - 1)), {})
    return pointwise(run, torch.where, (mask, new, old), {})
