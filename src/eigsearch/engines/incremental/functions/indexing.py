"""Indexing: ends of edges, messages, subsets of edges, and features of rows."""

from __future__ import annotations

from typing import Any

import torch

from eigsearch.engines.incremental.edge_layouts import restricted, subset
from eigsearch.engines.incremental.errors import NotServed
from eigsearch.engines.incremental.functions.alignment import gather, whole
from eigsearch.engines.incremental.functions.rowwise import rowwise, states_among, wrap
from eigsearch.engines.incremental.index.timelines import EdgeList
from eigsearch.engines.incremental.state_tensor import (
    Count,
    Function,
    IndexTensor,
    LiftedTensor,
    Run,
    StateTensor,
)


def getitem(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Handle `x[key]`: for features, ends of edges, messages, or a subset of edges."""
    tensor, key = args
    if isinstance(key, LiftedTensor):
        return _take(run, tensor, key)
    if isinstance(tensor, IndexTensor):
        return structure_item(run, tensor, key)
    key = key if isinstance(key, tuple) else (key,)
    if not isinstance(tensor, StateTensor):
        raise NotServed(
            "The model indexes another tensor with values of nodes or edges and with other "
            "indices at once."
        )
    if any(isinstance(item, (LiftedTensor, Count)) for item in key):
        raise NotServed(
            "The model indexes a tensor of nodes or edges in several dimensions at once."
        )
    if isinstance(key[0], slice) and isinstance(key[0].stop, Count):
        if key[0].stop != tensor.shape[0]:
            raise NotServed("The model selects nodes or edges by their position.")
        key = (slice(key[0].start, None, key[0].step), *key[1:])
    full = key[0] is Ellipsis and len([k for k in key if k is not None]) - 1 < tensor.dim()
    if not full and not is_full(key[0]):
        raise NotServed("The model selects nodes or edges by their position.")
    state = whole(run, tensor)
    return wrap(run, state.entries, state.value[key])


def structure_item(run: Run, index: IndexTensor, key: Any) -> IndexTensor:
    """Return an end of edges, reversed edges, or the edges that a mask keeps."""
    if isinstance(key, tuple) and len(key) == 2:
        picks = is_full(key[0]) and isinstance(key[1], StateTensor)
        if picks and index.role == "edge_index":
            return run.index("edge_index", _subset(run, index, key[1]), index.side)
        key = key[0] if is_full(key[1]) else key
    if isinstance(key, int) and -2 <= key < 2:
        if index.role == "links":
            return run.link_ends(index, key % 2)
        if index.role == "edge_index":
            return run.index("end", index.edges, (key % 2) ^ index.side)
    if index.role in ("edge_index", "links") and isinstance(key, list) and key == [1, 0]:
        return run.turned(index)
    if index.role in ("loops", "membership") and isinstance(key, int):
        role = "batch" if index.role == "membership" and key % 2 else "nodes"
        return run.index(role, kind=index.kind)
    raise NotServed("The model uses `edge_index`, `batch` or the like in an unsupported way.")


def is_full(key: Any) -> bool:
    """Return whether a slice takes all entries."""
    if not isinstance(key, slice) or key.step not in (None, 1):
        return False
    return key.start in (None, 0) and key.stop is None


def _take(run: Run, tensor: Any, key: Any) -> Any:
    """Return `tensor[key]` for a key of values or structure."""
    if not isinstance(key, StateTensor):
        return gather(run, tensor, key)
    if key.dtype == torch.bool:
        edges = edges_under(key)
        if isinstance(tensor, IndexTensor) and tensor.role == "end" and edges is tensor.edges:
            return run.index("end", _subset(run, tensor, key), tensor.side)
        if isinstance(tensor, StateTensor) and edges is not None:
            return _subset_values(run, tensor, key, edges)
        raise NotServed("The model selects nodes or edges by their values.")
    if isinstance(tensor, LiftedTensor):
        raise NotServed("The model selects nodes or edges by indices that it computes.")
    return rowwise(run, lambda rows: tensor[rows], (key,), {}, [key])


def edges_under(mask: StateTensor) -> EdgeList | None:
    """Return the edges of a mask; None if it changes over time or is not of edges."""
    space = mask.entries.space
    return space if isinstance(space, EdgeList) and mask.dim() == 1 else None


def _subset(run: Run, index: IndexTensor, mask: StateTensor) -> EdgeList:
    """Return the edges that a mask keeps; the same mask gives the same object."""
    edges = edges_under(mask)
    if mask.dtype != torch.bool or edges is None or edges is not index.edges:
        raise NotServed("The model selects edges by values that may differ between candidates.")
    return kept_edges(run, mask, edges)


def kept_edges(run: Run, mask: StateTensor, edges: EdgeList) -> EdgeList:
    """Return the edges that a mask keeps; the same mask gives the same object."""
    kept = mask.value.cpu().numpy().take(mask.entries.inverse)
    return run.context.once(subset, edges, kept.tobytes())


def _subset_values(
    run: Run, tensor: StateTensor, mask: StateTensor, edges: EdgeList
) -> StateTensor:
    """Return the values of the edges that a mask keeps."""
    kept, state = kept_edges(run, mask, edges), whole(run, tensor)
    if run.num_entries(state.entries) != run.num_edges(edges):
        raise NotServed("The model selects nodes or edges by their values.")
    if kept is edges:
        return state
    return run.state(run.context.once(restricted, run.context, state.entries, kept), state.value)


def index_select(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Handle `index_select`: features by plain index, entries by structure or values."""
    tensor, dim, index = (*args, *kwargs.values())
    if (
        isinstance(tensor, LiftedTensor)
        and dim % tensor.dim()
        and not isinstance(index, LiftedTensor)
    ):
        return rowwise(run, func, args, kwargs, states_among((tensor,)))
    if dim % tensor.dim() or not isinstance(index, LiftedTensor):
        raise NotServed(
            "The model selects nodes or edges by their position, or features by their values."
        )
    return _take(run, tensor, index)
