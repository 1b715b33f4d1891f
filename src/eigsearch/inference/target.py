"""The scalar φ: what a model's output row says about the class (or value) that is explained.

For classification φ is the log-odds of the class in float64, log p − log(1 − p). Log-odds order
candidates as probabilities do and still tell them apart where the probability is saturated;
`Target.value` turns them back into probabilities. For regression φ is the value itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Literal

import torch
from torch import Tensor

from eigsearch.errors import InputError, ModelError

ReturnType = Literal["raw", "log_probs", "probs"]
Task = Literal["multiclass_classification", "binary_classification", "regression"]

_TINY = 1e-300  # keeps the logarithm of an underflown probability finite


@dataclass(frozen=True)
class Target:
    """What is explained: a class of a classifier, or an output of a regression.

    Attributes:
        task: The kind of output, in PyG's words.
        return_type: What the model returns: raw scores, log-probabilities or probabilities.
        index: The class; for a regression or several binary outputs, the output column.
        rather_than: The class that it is explained against; None for all others.
        above: The value that a regressed one is above; None if change either way counts.
    """

    task: Task
    return_type: ReturnType
    index: int
    rather_than: int | None = None
    above: float | None = None

    @property
    def is_two_sided(self) -> bool:
        """Whether change counts in both directions, as for a regression without a threshold."""
        return self.task == "regression" and self.above is None

    def phi(self, output: Tensor) -> Tensor:
        """Return φ in float64 for each row of a model's output `[n, C]`."""
        output = output.double()
        if self.task == "regression":
            return output[:, self.index]
        if self.task == "binary_classification":
            return self._binary_log_odds(output)
        return self._multiclass_log_odds(output)

    def value(self, phi: Tensor) -> Tensor:
        """Return the probability of the class, or the regressed value, that φ stands for."""
        return phi if self.task == "regression" else torch.sigmoid(phi)

    def change(self, before: Tensor, after: Tensor) -> Tensor:
        """Return how much was lost between two values; a regression counts change both ways."""
        lost = before - after
        return lost.abs() if self.is_two_sided else lost

    def _binary_log_odds(self, output: Tensor) -> Tensor:
        single = output.size(1) == 1
        column = output[:, 0 if single else self.index]
        if self.return_type == "log_probs":
            column = column.exp()
        if self.return_type != "raw":
            column = torch.log(column.clamp_min(_TINY)) - torch.log((1 - column).clamp_min(_TINY))
        return -column if single and self.index == 0 else column

    def _multiclass_log_odds(self, output: Tensor) -> Tensor:
        if self.return_type == "probs":
            output = output.clamp_min(_TINY).log()
        if self.rather_than is not None:
            return output[:, self.index] - output[:, self.rather_than]
        if output.size(1) == 2:
            return output[:, self.index] - output[:, 1 - self.index]
        others = torch.cat([output[:, : self.index], output[:, self.index + 1 :]], dim=1)
        return output[:, self.index] - torch.logsumexp(others, dim=1)


def phi_rows(targets: Sequence[Target], outputs: Sequence[Tensor]) -> list[Tensor]:
    """Return φ for the output rows of many requests; one calculation where their kind is one."""
    if len(targets) == 1:
        return [targets[0].phi(outputs[0])]
    if len(set(targets)) == 1:
        phi = targets[0].phi(torch.cat(list(outputs)))
        return list(phi.split([len(output) for output in outputs]))
    kinds = {(target.task, target.return_type, target.rather_than) for target in targets}
    if (
        len(kinds) != 1
        or targets[0].task != "multiclass_classification"
        or targets[0].rather_than is not None
    ):
        return [target.phi(output) for target, output in zip(targets, outputs, strict=True)]
    counts = torch.tensor([len(output) for output in outputs])
    index = torch.tensor([target.index for target in targets]).repeat_interleave(counts)[:, None]
    rows = torch.cat(list(outputs)).double()
    if targets[0].return_type == "probs":
        rows = rows.clamp_min(_TINY).log()
    index = index.to(rows.device)
    if rows.size(1) == 2:
        others = rows.gather(1, 1 - index).squeeze(1)
    else:
        others = rows.scatter(1, index, -torch.inf).logsumexp(dim=1)
    return list((rows.gather(1, index).squeeze(1) - others).split(counts.tolist()))


def contrast_target(
    target: Target,
    prediction: int | float,
    columns: int,
    rather_than: int | None,
    above: float | None,
) -> Target:
    """Return the target explained against another class, or above a value.

    Args:
        target: The target.
        prediction: What the model predicts.
        columns: The number of columns of the model's output.
        rather_than: The other class, or None.
        above: The value, or None.

    Raises:
        InputError: If the task has no such contrast, or the prediction is not above the value.
    """
    if rather_than is not None:
        _check_rather_than(target, columns, rather_than)
        if columns > 1:  # of two classes in one column, the other one is all others
            target = replace(target, rather_than=int(rather_than))
    if above is not None:
        _check_above(target, prediction, above)
        target = replace(target, above=float(above))
    return target


def _check_rather_than(target: Target, columns: int, rather_than: int) -> None:
    exclusive = target.task == "multiclass_classification" or (
        target.task == "binary_classification" and columns == 1
    )
    if not exclusive:
        raise InputError(
            "Expected `rather_than` to be used where one of several classes is predicted (got a "
            f"{'regression' if target.task == 'regression' else 'model with several labels'}). "
            "Leave it out; for a regression, pass `above`."
        )
    classes = max(columns, 2)
    if rather_than not in range(classes) or rather_than == target.index:
        raise InputError(
            f"Expected `rather_than` to be a class from 0 to {classes - 1} other than the "
            f"explained one, {target.index} (got {rather_than!r}). Pass another `rather_than`, or "
            "another `target`."
        )


def _check_above(target: Target, prediction: int | float, above: float) -> None:
    if target.task != "regression":
        raise InputError(
            f"Expected `above` to be used with a regression (got {target.task}). For classes, pass "
            "`rather_than`."
        )
    if not prediction > above:
        raise InputError(
            f"Expected the prediction to be above {above} (got {prediction:.4g}). Pass a smaller "
            "value."
        )


class NotFiniteError(ModelError):
    """A model returned NaN or infinite outputs."""


def check_finite(output: Tensor) -> None:
    """Raise ModelError if model outputs are NaN or infinite."""
    if isfinite(float(output.sum())):  # else one of them is not, or the sum itself is too large
        return
    if not bool(torch.isfinite(output).all()):
        raise NotFiniteError(
            f"Expected finite model outputs (got {short_row(output.flatten().tolist())}). "
            "Check the weights and the scale of the features; if only parts of a graph give none, "
            "pass nodes='keep', so that every node stays."
        )


def short_row(values: list[float]) -> str:
    """Return the first numbers of a row, for messages."""
    shown = ", ".join(f"{value:.4g}" for value in values[:4])
    return f"[{shown}, …]" if len(values) > 4 else f"[{shown}]"
