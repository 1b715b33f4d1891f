"""A prepared instance together with what the model predicts for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from eigsearch.inference.target import Target
from eigsearch.inputs.instance import PreparedInstance


@dataclass(frozen=True, eq=False)
class PredictedInstance(PreparedInstance):
    """A prepared instance whose target is known.

    Attributes:
        target: What is explained: a class or an output column.
        prediction: What the model predicts: a class, or a value.
        phi_full: φ of the graph as it is.
        phi_without: φ without each group, `[G]`, where it was evaluated along with the graph.
    """

    target: Target = field(kw_only=True)
    prediction: int | float = field(kw_only=True)
    phi_full: Tensor = field(kw_only=True)
    phi_without: Tensor | None = field(kw_only=True, default=None)


def with_prediction(instance: PreparedInstance, **prediction: Any) -> PredictedInstance:
    """Return an instance with the fields of its prediction.

    Keeps the cached properties of the instance, which `dataclasses.replace` would drop.
    """
    predicted = object.__new__(PredictedInstance)
    vars(predicted).update(vars(instance), **prediction)
    return predicted
