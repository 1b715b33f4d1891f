"""Class probabilities of a classifier, whatever it returns."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from eigsearch.errors import UnsupportedError
from eigsearch.inference.target import Target


def require_classifier(target: Target, name: str) -> None:
    """Raise UnsupportedError if the explained output is no class."""
    if target.task == "regression":
        raise UnsupportedError(
            f"Expected a classifier, whose class probabilities {name} reads (got a regression). "
            "Choose a method that has regressions, such as EiG-Search."
        )


def class_probabilities(target: Target, outputs: Tensor) -> Tensor:
    """Return the probability of every class for rows of a model's output `[n, C]`.

    A single binary output becomes two columns. Several binary outputs do not add up to one.
    """
    classes = range(max(outputs.size(1), 2))
    return torch.stack(
        [torch.sigmoid(replace(target, index=index).phi(outputs)) for index in classes], dim=1
    )
