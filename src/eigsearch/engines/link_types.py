"""Whether a model looks up the ends of a link among the nodes of the types that a user names."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_geometric.data import Batch

from eigsearch.engines.batched.disjoint_union import full_graph
from eigsearch.engines.batched.model_input import ModelInput, model_input
from eigsearch.errors import InputError
from eigsearch.inference.link_input import LINK
from eigsearch.inference.model_call import ModelCall
from eigsearch.inputs.instance import PreparedInstance


def check_end_types(model_call: ModelCall, instance: PreparedInstance) -> None:
    """Raise InputError if the model looks up an end of a link among nodes of another type.

    That is seen where it takes the last node of the other type and no number behind it, and not so
    for the named type. Where types have equally many nodes, nothing is said.
    """
    if len(instance.anchors) != 2 or instance.data.edge_index.device.type != "cpu":
        return  # elsewhere a number that is out of range is fatal
    names = [str(name) for name, _ in _typed_names(instance)]
    given = model_input([full_graph(instance)], model_call.needs)
    types = [_looked_up(model_call, given, side, name) for side, name in enumerate(names)]
    if types != names:
        ends = ", ".join(f"({kind!r}, …)" for kind in types)
        raise InputError(
            f"Expected a link from {types[0]} to {types[1]}, where the model looks its ends up "
            f"(got one from {names[0]} to {names[1]}). Pass ({ends})."
        )


def _typed_names(instance: PreparedInstance) -> list[tuple[str, int]]:
    assert instance.schema is not None
    return [instance.schema.node_name(anchor) for anchor in instance.source_anchors]


def _looked_up(model_call: ModelCall, given: ModelInput, side: int, named: str) -> str:
    """Return the type among whose nodes one end is looked up; the named one where that is open."""
    sizes = {store._key: int(store.num_nodes) for store in given.batch.node_stores}
    if _is_size(model_call, given, side, sizes[named]):
        return named
    others = [kind for kind, size in sizes.items() if _is_size(model_call, given, side, size)]
    return others[0] if len(others) == 1 else named


def _is_size(model_call: ModelCall, given: ModelInput, side: int, size: int) -> bool:
    """Return whether the last of so many nodes can be an end, and none behind it."""
    return (
        size > 0
        and _takes(model_call, given, side, size - 1)
        and not _takes(model_call, given, side, size)
    )


def _takes(model_call: ModelCall, given: ModelInput, side: int, number: int) -> bool:
    ends = torch.zeros_like(given.batch[LINK][:, :1])
    ends[side] = number
    batch = given.batch.clone()
    _place(batch, ends)
    try:
        with torch.inference_mode():
            model_call.without_traces(batch)
    except Exception:
        return False
    return True


def _place(batch: Batch, ends: Tensor) -> None:
    for store in batch.stores:
        if LINK in store:
            store[LINK] = ends
