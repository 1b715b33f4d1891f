"""Find out how a model takes the link to predict: a parameter, or `encode` and `decode`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from inspect import Parameter
from typing import Any, NamedTuple

from torch import Tensor
from torch_geometric.data import HeteroData

from eigsearch.errors import InputError
from eigsearch.inference.typed_arguments import argument_value

LINK = "edge_label_index"
TYPED_LINKS = "edge_label_index_dict"  # links by edge type
_OBJECT = {"data", "graph", "hetero_data"}  # usual names of a parameter that takes the graph


class LinkInput(NamedTuple):
    """Where a model takes links.

    Attributes:
        parameter: The parameter of its forward that takes them; "" where it reads them from the
            object that it takes, or where `decode` takes them.
        decodes: Whether the model is called as `model.decode(model.encode(…), links)`.
        links_first: Whether `decode` takes the links before what `encode` gives.
    """

    parameter: str = ""
    decodes: bool = False
    links_first: bool = False


def find_link_input(
    model: Any,
    parameters: Mapping[str, Parameter],
    given: Collection[str],
    takes_object: bool,
    decoder: Mapping[str, Parameter],
) -> LinkInput:
    """Return where a model takes links.

    Args:
        model: The model.
        parameters: Those of its forward.
        given: The names of the arguments that the graph provides.
        takes_object: Whether its forward takes the graph as one object.
        decoder: The parameters of its `decode`, none where it has no such method.

    Raises:
        InputError: If that is not clear.
    """
    for name in (LINK, TYPED_LINKS):
        if name in parameters:
            return LinkInput(name)
    required = [n for n, p in parameters.items() if p.default is Parameter.empty]
    known = {*given, *_OBJECT, *(required[:1] if takes_object else ())}
    holding = [name for name in required if name not in known]
    if len(holding) == 1:
        return LinkInput(holding[0])
    if can_decode(model):
        return _decoder_input(decoder)
    if takes_object and not holding:
        return LinkInput()
    raise InputError(
        f"Expected the model's forward to take the link as `{LINK}` (got "
        f"{', '.join(parameters) or 'no parameters'}). Name a parameter so, or pass "
        f"`forward=lambda model, batch: …`, which finds the links as batch.{LINK}."
    )


def _decoder_input(decoder: Mapping[str, Parameter]) -> LinkInput:
    """Return how `decode` takes links: second, unless its parameter names say first."""
    required = [name for name, p in decoder.items() if p.default is Parameter.empty]
    if len(required) > 2 or len(decoder) == 1:
        raise InputError(
            "Expected the model's decode to take the output of encode, and the links (got the "
            f"parameters {', '.join(required)}). Pass `forward=lambda model, batch: …`, which "
            f"calls both and finds the links as batch.{LINK}."
        )
    named = [name for name in (LINK, "edge_index") if name in required]
    return LinkInput(decodes=True, links_first=named[:1] == required[:1] and bool(named))


def link_attributes(data: Any) -> set[str]:
    """Return the attributes that have a row for each of several links to predict.

    Those are named as PyG's loaders name them (`edge_label_time`), or are as long as the list of
    links and neither as nodes nor as edges.
    """
    stores = data.stores if isinstance(data, HeteroData) else [data]
    found = set()
    for store in stores:
        links = store.get(LINK)
        count = links.size(1) if isinstance(links, Tensor) and links.dim() == 2 else 0
        sizes = {data.num_nodes if store is data else 0}
        sizes |= {store["edge_index"].size(1)} if "edge_index" in store else set()
        for name, value in store.items() if count > 1 else ():
            listed = isinstance(value, Tensor) and value.dim() and value.size(0) == count
            of_links = name.startswith("edge_label") or count not in sizes
            if listed and of_links and "index" not in name:
                found.add(name)
    return found


def links_of(batch: Any, parameter: str) -> Any:
    """Return the links to predict, as a dict by edge type if the parameter takes one."""
    if parameter != TYPED_LINKS:
        return batch[LINK]
    links = argument_value(batch, TYPED_LINKS)
    if links is None:
        raise InputError(
            "Expected the graph to have an edge type between the ends of the link, as its key in "
            f"`{TYPED_LINKS}` (got {', '.join(map(str, batch.edge_types))}). Pass `forward=lambda "
            "model, batch: …`, which finds the links as batch.edge_label_index."
        )
    return links


def can_decode(model: Any) -> bool:
    """Return whether a model has `encode` and `decode`, as PyG's link predictors have."""
    return all(callable(getattr(model, name, None)) for name in ("encode", "decode"))
