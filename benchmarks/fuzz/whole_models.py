"""Whole models of the tests: odd bodies with odd endings, and forwards as users write them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from itertools import product

from tests.properties.odd_models import BODIES, ENDINGS, MIXERS, OddModel
from tests.properties.user_models import OF_OBJECTS, ROUTINES, OfArguments, OfObject, forget
from torch import nn

# What becomes of the outputs, in the words of a plan.
_END = {
    "logits": "raw", "log_softmax": "log_probs", "softmax": "probs", "temperature": "probs",
    "sigmoid": "sigmoid", "flat sigmoid": "sigmoid", "one logit": "raw", "regression": "raw",
    "multilabel": "raw", "sigmoids": "sigmoid",
}  # fmt: skip
_ODD = [
    (body, ending, mixer)
    for body, ending, mixer in product(BODIES, ENDINGS, [None, *MIXERS])
    if (mixer is None or ending == "logits") and body != "sage lstm"  # which takes sorted edges
]


def _name(body: str, ending: str, mixer: str | None) -> str:
    return f"{body}, {ending}" + (f", {mixer}" if mixer else "")


# Each model by its name.
ODD: dict[str, Callable[[], nn.Module]] = {
    _name(*parts): partial(OddModel, *parts) for parts in _ODD
}
OF_USERS: dict[str, Callable[[], nn.Module]] = {
    **{routine: partial(OfArguments, routine) for routine in ROUTINES},
    **{routine: partial(OfObject, routine) for routine in OF_OBJECTS},
}
WHOLE = ODD | OF_USERS
# The number of outputs, what becomes of them, whether the model takes a graph.
ENDS_OF: dict[str, tuple[int, str, bool]] = {
    **{_name(*parts): (ENDINGS[parts[1]].outputs, _END[parts[1]], False) for parts in _ODD},
    **{routine: (3, "raw", routine in OF_OBJECTS) for routine in OF_USERS},
}


def never_called(model: nn.Module) -> nn.Module:
    """Return a copy of a model, and forget what such models keep outside of themselves."""
    forget()
    return copy.deepcopy(model)
