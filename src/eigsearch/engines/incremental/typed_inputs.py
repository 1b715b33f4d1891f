"""Inputs of typed models: a `HeteroData` batch whose stores hold state tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Batch, HeteroData

from eigsearch.engines.batched.typed_union import listing_types, readable_attributes
from eigsearch.engines.incremental.context import EvalContext
from eigsearch.engines.incremental.errors import NotServed
from eigsearch.engines.incremental.state_tensor import Run
from eigsearch.engines.incremental.types import Types
from eigsearch.inputs.typed_graph import row_dim

Needs = Callable[[str], bool]


def typed_batch(run: Run, needs: Needs, links: Iterable[str]) -> Batch:
    """Return the typed graphs of all candidates as one batch of state tensors.

    Args:
        run: The run.
        needs: Tells whether the model may read an attribute.
        links: The names under which the model finds the links to predict.
    """
    context, batch = run.context, Batch(_base_cls=HeteroData)
    types, first = context.types, context.instances[0]
    assert types is not None
    batch._num_graphs = context.num_candidates
    for kind in range(len(types.schema.node_types)):
        _add_nodes(run, batch, types, kind, needs)
    for kind in range(len(types.schema.edge_types)):
        _add_edges(run, batch, types, kind, needs)
    for key, _ in readable_attributes(first.source._global_store, needs):
        batch[key] = _repeated(context, lambda source, key=key: source[key])  # type: ignore[misc]
    if first.anchors:
        ends = [types.schema.node_name(anchor)[0] for anchor in first.source_anchors]
        batch.explained_type = ends[0]
        for name in links:
            batch[name] = run.links()
            for edge_type in listing_types(first.source, (ends[0], ends[1]), name):
                batch[edge_type][name] = batch[name]
    return batch


def _add_nodes(run: Run, batch: Batch, types: Types, kind: int, needs: Needs) -> None:
    """Set the attributes that a model reads of the nodes of one type."""
    context, node_type = run.context, types.schema.node_types[kind]
    store, space = batch[node_type], context.part(context.base, kind)
    source = context.instances[0].source
    for key, _ in readable_attributes(source[node_type], needs):
        if row_dim(source, source[node_type], key) is None:
            store[key] = _of_store(context, node_type, key)
        else:
            value, rows = types.node_values(kind, key, space.node)
            store[key] = run.state(*context.laid_out(space, value, rows))
    store.batch, store.num_nodes = run.index("batch", kind=kind), run.num_nodes(kind)


def _add_edges(run: Run, batch: Batch, types: Types, kind: int, needs: Needs) -> None:
    """Set the attributes that a model reads of the edges of one type."""
    context, edge_type = run.context, types.schema.edge_types[kind]
    store, edges = batch[edge_type], context.once(types.edges, kind)
    source = context.instances[0].source
    for key, _ in readable_attributes(source[edge_type], needs):
        if row_dim(source, source[edge_type], key) is None:
            store[key] = _of_store(context, edge_type, key)
        else:
            value, rows = types.edge_values(kind, key, edges)
            store[key] = run.state(*context.laid_out(edges, value, rows))
    store.edge_index = run.index("edge_index", edges)


def _of_store(context: EvalContext, kind: Any, key: str) -> Any:
    """Return an attribute that a type has once per graph, once for each candidate."""
    return _repeated(context, lambda source: source[kind][key])


def _repeated(context: EvalContext, read: Callable[[Any], Any]) -> Any:
    parts = []
    for chunk in context.timelines.chunks:
        value = read(chunk.request.instance.source)
        if not isinstance(value, Tensor):
            return value
        value = value.reshape(1) if value.dim() == 0 else value
        if value.size(0) != 1:
            raise NotServed(
                "The model reads an attribute of the graph that does not have one row for each "
                "graph."
            )
        parts.append(value.repeat(len(chunk), *[1] * (value.dim() - 1)))
    return torch.cat(parts)
