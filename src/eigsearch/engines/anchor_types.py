"""Checks that the types of explained nodes or links are those that a model uses."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor
from torch_geometric.data import Batch

from eigsearch.engines.batched.disjoint_union import UnionPart, full_graph
from eigsearch.engines.batched.model_input import ModelInput, model_input
from eigsearch.errors import InputError
from eigsearch.inference.link_input import LINK
from eigsearch.inference.model_call import ModelCall
from eigsearch.inputs.instance import PreparedInstance
from eigsearch.tasks import TaskLevel

_FEWEST = 2  # nodes of the first type in the smaller probe graph


def check_anchor_types(
    model_call: ModelCall, level: TaskLevel, graph: PreparedInstance, anchors: Sequence[int]
) -> None:
    """Raise InputError if the model uses other node types than the user names.

    The model is called on two small probe graphs without edges, in which every type has another
    number of nodes. The type of predicted nodes is then the one with as many nodes as the output
    has rows, and the type of a link's end the one whose node numbers the model accepts. If that
    fails, the whole graph is used, which decides unless types have equally many nodes there.

    Args:
        model_call: How the model is called.
        level: The kind of the predictions.
        graph: The whole graph, which has types.
        anchors: The anchors of the first prediction.
    """
    if graph.data.edge_index.device.type != "cpu":
        return  # a GPU does not recover from an index that is out of range
    assert graph.schema is not None
    names = [graph.schema.node_name(anchor)[0] for anchor in anchors]
    more = _FEWEST + len(graph.schema.node_types)
    few = [_few_nodes(graph, fewest) for fewest in (_FEWEST, more)]
    one, two = (_types(model_call, level, part, names) for part in few)
    found = [a if a == b else "" for a, b in zip(one, two, strict=True)]
    if "" in found:
        whole = _types(model_call, level, full_graph(graph), names)
        found = [a or b or name for a, b, name in zip(found, whole, names, strict=True)]
    if found != names:
        raise _other_types(found, names)


def _other_types(found: Sequence[str], names: Sequence[str]) -> InputError:
    if len(names) == 1:
        return InputError(
            f"Expected a node of type {found[0]}, which the model predicts (got one of type "
            f"{names[0]}). Pass ({found[0]!r}, …)."
        )
    return InputError(
        f"Expected a link from {found[0]} to {found[1]}, where the model looks its ends up (got "
        f"one from {names[0]} to {names[1]}). Pass (({found[0]!r}, …), ({found[1]!r}, …))."
    )


def _few_nodes(graph: PreparedInstance, fewest: int) -> UnionPart:
    """Return a probe graph without edges, with one more node for each next type."""
    assert graph.schema is not None
    pieces = []
    for kind, (start, stop) in enumerate(pairwise(graph.schema.node_ptr)):
        numbers = torch.arange(fewest + kind if stop > start else 0)
        pieces.append(start + numbers % max(stop - start, 1))
    nodes = torch.cat(pieces)
    none = torch.zeros(2, 0, dtype=torch.long)
    return UnionPart(graph, 1, nodes, torch.zeros_like(nodes), none[0], none)


def _types(
    model_call: ModelCall, level: TaskLevel, part: UnionPart, names: Sequence[str]
) -> list[str]:
    """Return the type that the model expects of each anchor; "" if undecided."""
    places = torch.tensor([_first_of(part, name) for name in names])
    given = model_input([part], model_call.needs, level, places)
    output = _output(model_call, given.batch)
    if output is None:
        return [""] * len(names)
    if len(names) == 1:
        return [_predicted(output, given, names[0])]
    return [_looked_up(model_call, given, side, name) for side, name in enumerate(names)]


def _first_of(part: UnionPart, name: str) -> int:
    """Return the position of the first node of a type."""
    schema = part.instance.schema
    assert schema is not None
    of_type = schema.node_kinds(part.nodes) == schema.node_types.index(name)
    return int(of_type.nonzero()[0])


def _predicted(output: Tensor, given: ModelInput, named: str) -> str:
    """Return the type with as many nodes as the output has rows; "" if undecided."""
    rows, sizes = output.size(0) if output.dim() else 1, _sizes(given)
    fitting = [kind for kind, size in sizes.items() if size == rows]
    return named if named in fitting else fitting[0] if len(fitting) == 1 else ""


def _looked_up(model_call: ModelCall, given: ModelInput, side: int, named: str) -> str:
    """Return the node type in which one end is looked up; "" if undecided."""
    sizes = _sizes(given)
    if _is_size(model_call, given, side, sizes[named]):
        return named
    others = [kind for kind, size in sizes.items() if _is_size(model_call, given, side, size)]
    return others[0] if len(others) == 1 else ""


def _sizes(given: ModelInput) -> dict[str, int]:
    return {store._key: int(store.num_nodes) for store in given.batch.node_stores}


def _is_size(model_call: ModelCall, given: ModelInput, side: int, size: int) -> bool:
    """Return whether the model accepts `size - 1` as an end, but not `size`."""
    return (
        size > 0
        and _takes(model_call, given, side, size - 1)
        and not _takes(model_call, given, side, size)
    )


def _takes(model_call: ModelCall, given: ModelInput, side: int, number: int) -> bool:
    ends = torch.zeros_like(given.batch[LINK][:, :1])
    ends[side] = number
    batch = given.batch.clone()
    for store in batch.stores:
        if LINK in store:
            store[LINK] = ends
    return _output(model_call, batch) is not None


def _output(model_call: ModelCall, batch: Batch) -> Tensor | None:
    """Return the output of the model; None if it fails."""
    try:
        with torch.inference_mode():
            return model_call.without_traces(batch.clone())
    except Exception:  # any error: the model does not accept this input
        return None
