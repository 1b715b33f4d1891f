"""Arguments of models by name: attributes of a graph, or dicts by type for a typed graph."""

from __future__ import annotations

from typing import Any

from torch_geometric.data import HeteroData

_SUFFIX = "_dict"


def argument_names(data: Any) -> tuple[str, ...]:
    """Return the names that arguments may have where a graph provides them.

    Those of a typed graph are `x_dict`, `edge_index_dict` and so on, and for models that take dicts
    under plain names, as those of `to_hetero` do, `x` and `edge_index`.
    """
    if not isinstance(data, HeteroData):
        return tuple(data._store._mapping)  # `keys()` takes 5 µs
    inside = {key for store in (*data.node_stores, *data.edge_stores) for key in store}
    inside |= {"batch", "ptr", "num_nodes"}
    return tuple(sorted({*data._global_store, *inside, *(key + _SUFFIX for key in inside)}))


def argument_value(batch: Any, name: str) -> Any:
    """Return the value of an argument; None if the batch does not provide it."""
    if not isinstance(batch, HeteroData):
        return batch.get(name)
    if name in batch._global_store:
        return batch._global_store[name]
    key = name.removesuffix(_SUFFIX)
    if key == "num_nodes":
        return batch.num_nodes_dict
    return batch.collect(key, allow_empty=True) or None
