"""Aggregation: messages scattered to nodes, and nodes to candidates."""

from __future__ import annotations

from typing import Any

import numpy as np
from torch import Tensor

from eigsearch.engines.incremental.bags import Bags
from eigsearch.engines.incremental.edge_layouts import copies
from eigsearch.engines.incremental.errors import NotServed
from eigsearch.engines.incremental.functions.alignment import whole
from eigsearch.engines.incremental.functions.rowwise import pointwise
from eigsearch.engines.incremental.index.timelines import EdgeList
from eigsearch.engines.incremental.pooling import carried_rows, pool_nodes, reduce_bags
from eigsearch.engines.incremental.state_tensor import (
    Function,
    IndexTensor,
    LiftedTensor,
    Pending,
    Run,
    StateTensor,
)

_REDUCE = {"sum": "sum", "add": "sum", "mean": "mean", "amax": "max", "max": "max", "amin": "min",
           "min": "min", "prod": "prod", "multiply": "prod"}  # fmt: skip


def scatter(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Handle `scatter_add`, `index_add`, `scatter_reduce` and `index_reduce`."""
    name = func.__name__
    names = ("self", "dim", "index", "src", "reduce")
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    given["src"] = given.get("src", kwargs.get("source"))
    own, index, source = given["self"], given["index"], given["src"]
    if isinstance(index, StateTensor) and not isinstance(own, LiftedTensor):
        return own.copy_(_histogram(run, own, index, source))
    if not isinstance(index, IndexTensor) or not isinstance(source, StateTensor):
        raise NotServed("The model aggregates by another index than `edge_index` or `batch`.")
    if given["dim"] % own.dim() or kwargs.get("alpha", 1) != 1:
        raise NotServed("The model aggregates along features, or with a factor `alpha`.")
    if index.dim() > 1 and tuple(index.shape[1:]) != tuple(source.shape[1:]):
        raise NotServed("The model aggregates with an index of another shape than the values.")
    mode = "sum" if "add" in name else _REDUCE[given["reduce"]]
    include = "add" in name or kwargs.get("include_self", True)
    result = _scattered(run, own, index, source, mode, include)
    if not name.endswith("_"):
        return result
    return own.assign(result) if isinstance(own, StateTensor) else own.copy_(result)


def _histogram(run: Run, own: Tensor, index: StateTensor, source: Any) -> Tensor:
    """Return the number of edges of each type, by which PyG chooses a kernel."""
    edges, ones = index.entries.space, isinstance(source, StateTensor) and source.entries.count == 1
    if not isinstance(edges, EdgeList) or not ones or own.is_floating_point() or own.dim() != 1:
        raise NotServed("The model aggregates by another index than `edge_index` or `batch`.")
    number = copies(run.context, edges)
    rows = np.bincount(index.entries.inverse, number, minlength=index.entries.count)
    counted = run.context.tensor(rows).to(own.dtype) * source.value
    return own.scatter_add(0, index.value, counted)


def _scattered(
    run: Run, own: Any, index: IndexTensor, source: StateTensor, mode: str, include: bool
) -> Any:
    """Return the scattered values, combined with those of the tensor they go into."""
    if source.shape[0] != index.shape[0]:
        raise NotServed(
            "The model aggregates values of some nodes or edges with the index of others."
        )
    if index.role == "batch":
        if isinstance(own, LiftedTensor) or own.size(0) != run.context.num_candidates:
            raise NotServed("The model pools into a tensor without one row for each graph.")
        state = whole(run, source)
        found: Any = pool_nodes(run.context, state.entries, state.value, mode)
        zero = not bool(own.any())
    else:
        if not isinstance(own, StateTensor) or own.shape[0] != run.num_nodes(end_kind(index)):
            raise NotServed("The model aggregates into a tensor without one row for each node.")
        found = aggregate(run, source, index, mode)
        zero = own.entries.count == 1 and not bool(own.value.any())
    if zero and (mode == "sum" or not include):
        return found
    joins = {"sum": Tensor.add, "prod": Tensor.mul if include else None}.get(mode)
    if joins is None:
        raise NotServed("The model aggregates, not by sum, into a tensor that already has values.")
    if isinstance(found, LiftedTensor):
        return pointwise(run, joins, (own, found), {})
    return joins(own, found)


def aggregate(run: Run, source: StateTensor, index: IndexTensor, mode: str) -> StateTensor:
    """Return the sum, mean, … of the messages of each node."""
    if index.role != "end" or source.shape[0] != index.shape[0]:
        raise NotServed(
            "The model aggregates values of some nodes or edges with the index of others."
        )
    kind = end_kind(index)
    if mode != "sum":
        source = whole(run, source)
    value, factor = source.value, source.factor
    layouts = (source.entries,) if factor is None else (source.entries, factor.entries)

    def reduce(bags: Bags) -> Tensor:
        member = bags.members[0]
        weight = (
            None if factor is None else factor.value.reshape(-1).index_select(0, bags.members[1])
        )
        rows = reduce_bags(value, member, bags.ptr, mode, weight)
        return rows if bags.differences is None else carried_rows(rows, value, bags.differences)

    carries = mode == "sum" and factor is None and value.is_floating_point()
    pending = Pending(reduce, index.side, layouts, value.dtype, carries)
    return run.pending(pending, source.shape[1:], kind)


def end_kind(index: IndexTensor) -> int:
    """Return the type of the nodes at an end of edges."""
    if index.edges is None:
        raise NotServed("The model aggregates by another index than a row of `edge_index`.")
    return index.edges.kinds[index.side]
