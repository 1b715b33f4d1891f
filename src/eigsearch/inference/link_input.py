"""How a model is given the link to predict: by a parameter, or by `encode` and `decode`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from inspect import Parameter
from typing import Any, NamedTuple

from eigsearch.errors import InputError

LINK = "edge_label_index"
TYPED_LINKS = "edge_label_index_dict"  # links by edge type
_OBJECT = {"data", "graph", "hetero_data"}  # what a parameter that takes the graph is called


class LinkInput(NamedTuple):
    """Where a model takes links.

    Attributes:
        parameter: The parameter of its forward that takes them; "" where it reads them from the
            object that it takes, or where `decode` takes them.
        decodes: Whether the model is called as `model.decode(model.encode(…), links)`.
    """

    parameter: str = ""
    decodes: bool = False


def find_link_input(
    model: Any, parameters: Mapping[str, Parameter], given: Collection[str], takes_object: bool
) -> LinkInput:
    """Return where a model takes links.

    Args:
        model: The model.
        parameters: Those of its forward.
        given: The names of the arguments that the graph provides.
        takes_object: Whether its forward takes the graph as one object.

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
        return LinkInput(decodes=True)
    if takes_object and not holding:
        return LinkInput()
    raise InputError(
        f"Expected the model's forward to take the link as `{LINK}` (got the parameters "
        f"{', '.join(parameters) or 'of none'}). Name one so, or pass "
        f"`forward=lambda model, batch: …`, which finds the links as batch.{LINK}."
    )


def can_decode(model: Any) -> bool:
    """Return whether a model has `encode` and `decode`, as PyG's link predictors have."""
    return all(callable(getattr(model, name, None)) for name in ("encode", "decode"))
