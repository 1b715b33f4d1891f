"""Margins: how far an output is from another prediction."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from eigsearch.errors import InputError
from eigsearch.inference.target import Target


@dataclass(frozen=True)
class Margin:
    """The distance of outputs from a changed prediction, in units of φ; negative once changed.

    For classes it is the log-ratio of the predicted class and the best other one, or of the best
    class and the wanted one; for a value its distance from the one to cross.

    Attributes:
        target: What is predicted now.
        to: The wanted class, None for any other; for a regression, the value to cross.
        is_above: Whether the prediction is above the threshold now.
    """

    target: Target
    to: int | float | None
    is_above: bool

    def __call__(self, output: Tensor) -> Tensor:
        """Return the margin of each row of outputs `[n, C]`."""
        if self.target.task != "multiclass_classification":
            threshold = float(self.to or 0.0) if self.target.task == "regression" else 0.0
            distance = self.target.phi(output) - threshold
            return distance if self.is_above else -distance
        if self.to is None:
            return self._log_ratios(output, self.target.index).amin(dim=1)
        return -self._log_ratios(output, int(self.to)).amin(dim=1)

    def _log_ratios(self, output: Tensor, index: int) -> Tensor:
        """Return log p(index) − log p(c) for each other class c, `[n, C − 1]`."""
        others = [other for other in range(output.size(1)) if other != index]
        pairs = [replace(self.target, index=index, rather_than=other) for other in others]
        return torch.stack([pair.phi(output) for pair in pairs], dim=1)


def make_margin(target: Target, output: Tensor, to: int | float | None) -> Margin:
    """Return the margin of a prediction.

    Args:
        target: The predicted class, or the output column.
        output: The model's output for the graph, `[1, C]`.
        to: The wanted class, None for any other; for a regression, the value to cross.

    Raises:
        InputError: If there is no such class, the model predicts it already, or a regression has
            no value to cross.
    """
    phi = float(target.phi(output))
    if target.task == "regression":
        if to is None:
            raise InputError(
                "Expected `to` to be the value that a regression is to cross (got none). "
                "Pass to=5.0 to ask what takes the prediction to the other side of 5."
            )
        return Margin(target, float(to), phi > to)
    # A logit of exactly zero is class 0, as `resolve_target` reads it, though φ is 0 for both.
    single = target.task == "binary_classification" and output.size(1) == 1
    is_above = phi >= 0 if single and target.index == 0 else phi > 0
    if to is not None:
        if target.task == "binary_classification" and output.size(1) > 1:
            raise InputError(
                "Expected no `to` for a model with several labels (got one). "
                "Pass `target`, the label that is to change."
            )
        predicted = target.index if is_above or not single else 1 - target.index
        _check_class(predicted, max(output.size(1), 2), to)
    return Margin(target, None if to is None else int(to), is_above)


def _check_class(predicted: int, classes: int, to: int | float) -> None:
    if to not in range(classes) or to == predicted:
        raise InputError(
            f"Expected `to` to be a class from 0 to {classes - 1} other than the predicted one, "
            f"{predicted} (got {to!r}). Leave it out for any other class."
        )
