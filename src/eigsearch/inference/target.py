"""The scalar φ: what a model's output row says about the class (or value) that is explained.

For classification φ is the log-odds of the class in float64, log p − log(1 − p). Log-odds order
candidates as probabilities do and still tell them apart where the probability is saturated;
`Target.value` turns them back into probabilities. For regression φ is the value itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Literal

import torch
from torch import Tensor

from eigsearch.errors import InputError, ModelError

ReturnType = Literal["raw", "log_probs", "probs"]
Task = Literal["multiclass_classification", "binary_classification", "regression"]

RETURN_TYPES = ("auto", "raw", "log_probs", "probs")
TASKS = (
    "auto",
    "classification",
    "multiclass_classification",
    "binary_classification",
    "regression",
)
_ALMOST = 1e-4  # probabilities in single precision, and their sums, are exact to this
_TINY = 1e-300  # keeps the logarithm of an underflown probability finite


@dataclass(frozen=True)
class Target:
    """What is explained: a class of a classifier, or an output of a regression.

    Attributes:
        task: The kind of output, in PyG's words.
        return_type: What the model returns: raw scores, log-probabilities or probabilities.
        index: The class; for a regression or several binary outputs, the output column.
    """

    task: Task
    return_type: ReturnType
    index: int

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
        return lost.abs() if self.task == "regression" else lost

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
        others = torch.cat([output[:, : self.index], output[:, self.index + 1 :]], dim=1)
        return output[:, self.index] - torch.logsumexp(others, dim=1)


def phi_rows(targets: Sequence[Target], outputs: Sequence[Tensor]) -> list[Tensor]:
    """Return φ for the output rows of many requests; one calculation where their kind is one."""
    kinds = {(target.task, target.return_type) for target in targets}
    if len(kinds) != 1 or targets[0].task != "multiclass_classification":
        return [target.phi(output) for target, output in zip(targets, outputs, strict=True)]
    counts = torch.tensor([len(output) for output in outputs])
    index = torch.tensor([target.index for target in targets]).repeat_interleave(counts)[:, None]
    rows = torch.cat(list(outputs)).double()
    if targets[0].return_type == "probs":
        rows = rows.clamp_min(_TINY).log()
    index = index.to(rows.device)
    others = rows.scatter(1, index, -torch.inf).logsumexp(dim=1)
    return list((rows.gather(1, index).squeeze(1) - others).split(counts.tolist()))


def check_names(task: str, return_type: str) -> None:
    """Refuse a task or a return type that does not exist."""
    if task not in TASKS:
        raise InputError(
            f"Expected `task` to be one of {', '.join(TASKS)} (got {task!r}). "
            "A node is explained with `node=`; edge-level tasks are not supported yet."
        )
    if return_type not in RETURN_TYPES:
        raise InputError(
            f"Expected `return_type` to be one of {', '.join(RETURN_TYPES)} (got {return_type!r}). "
            "Say what the model returns, or leave it to 'auto'."
        )


def resolve_target(
    output: Tensor,
    *,
    target: int | None,
    task: str,
    return_type: str,
    final_activation: ReturnType | None = None,
    label: Tensor | None = None,
) -> tuple[Target, int | float]:
    """Return the target of one output row `[C]` and the model's prediction there.

    `final_activation` is what the model's last operation says about its outputs, where known;
    `label` is the graph's `y`, whose numbers tell a regression from a classifier.
    """
    row: list[float] = output.tolist()
    task = _resolve_task(task, row, label, final_activation)
    kind = _resolve_return_type(return_type, task, row, final_activation)
    if task == "regression":
        index = _regression_index(target, len(row))
        return Target(task, "raw", index), row[index]
    if not output.is_floating_point():
        raise ModelError(
            f"Expected a classifier to return scores or probabilities (got {output.dtype}). Return "
            "what the class is chosen by, or pass task='regression' for a number that is counted."
        )
    classes = 2 if task == "binary_classification" and len(row) == 1 else len(row)
    prediction = _predicted_class(kind, row)
    index = prediction if target is None else target
    if not 0 <= index < classes:
        raise InputError(
            f"Expected `target` to be a class from 0 to {classes - 1} (got {index}). "
            "Pass a class that the model has, or leave it out to explain the prediction."
        )
    return Target(task, kind, index), prediction


def needs_activation(task: str, output: Tensor) -> bool:
    """Tell whether only a model's last operation says what the numbers of its output are."""
    row: list[float] = output.tolist()
    return len(row) == 1 or task == "binary_classification" or _are_shares(row)


def _resolve_task(
    task: str, row: list[float], label: Tensor | None, final_activation: ReturnType | None
) -> Task:
    if task == "multiclass_classification" and len(row) == 1:
        raise InputError(
            "Expected a multi-class model to return at least two columns (got one). "
            "Pass task='binary_classification' or task='regression'."
        )
    if task == "auto" and _looks_continuous(label, len(row)):
        return "regression"
    if task not in ("auto", "classification"):
        return task  # type: ignore[return-value]
    sigmoids = final_activation == "probs" and _are_shares(row)
    return "binary_classification" if len(row) == 1 or sigmoids else "multiclass_classification"


def _looks_continuous(label: Tensor | None, outputs: int) -> bool:
    """Tell whether labels are numbers of a regression: one for each output, and no classes.

    Where labels are missing, data sets often have NaN. A share for each of several classes, as
    distillation gives, is no regression.
    """
    if not isinstance(label, Tensor) or not label.is_floating_point():
        return False
    if outputs > 1 and (label.dim() != 2 or label.size(1) != outputs or _is_distribution(label)):
        return False
    known = label[~label.isnan()]
    return not bool(((known == 0) | (known == 1)).all())


def _is_distribution(label: Tensor) -> bool:
    return bool((label >= 0).all() and ((label.sum(dim=1) - 1).abs() < _ALMOST).all())


def _resolve_return_type(
    return_type: str, task: Task, row: list[float], final_activation: ReturnType | None
) -> ReturnType:
    if task == "regression":
        return "raw"
    if return_type == "auto":
        return _inspect(task, row, final_activation)
    _check_return_type(return_type, task, row)
    return return_type  # type: ignore[return-value]


def _inspect(task: Task, row: list[float], final_activation: ReturnType | None) -> ReturnType:
    """Tell raw scores, log-probabilities and probabilities apart by the numbers.

    One number alone cannot tell a probability from a small score, so a single binary output is a
    probability only where the model's last operation says so.
    """
    if task == "binary_classification":
        return final_activation or "raw"
    if _are_probabilities(row) and _sum_to_one(row):
        return "probs"
    if max(row) <= _ALMOST and _sum_to_one([exp(score) for score in row]):
        return "log_probs"
    return "raw"


def _are_probabilities(row: list[float]) -> bool:
    return min(row) >= 0 and max(row) <= 1 + _ALMOST


def _are_shares(row: list[float]) -> bool:
    """Tell whether numbers are probabilities that exclude nothing, as several sigmoids give."""
    return _are_probabilities(row) and not _sum_to_one(row)


def _sum_to_one(row: list[float]) -> bool:
    return abs(sum(row) - 1) < _ALMOST


def _check_return_type(return_type: str, task: Task, row: list[float]) -> None:
    if return_type == "raw":
        return
    likely = max(row) <= 1 + _ALMOST  # else the exponential might overflow
    shares = [exp(score) for score in row] if return_type == "log_probs" and likely else row
    several = task == "multiclass_classification"
    if not _are_probabilities(shares) or (several and not _sum_to_one(shares)):
        raise InputError(
            f"Expected the model to return {return_type} (got {_short(row)}). "
            "Pass return_type='auto', or the type that the model returns."
        )


def _predicted_class(return_type: ReturnType, row: list[float]) -> int:
    if len(row) > 1:
        return row.index(max(row))
    even = {"raw": 0.0, "probs": 0.5, "log_probs": -log(2)}
    return int(row[0] > even[return_type])


def _regression_index(target: int | None, outputs: int) -> int:
    if target is None and outputs > 1:
        raise InputError(
            f"Expected `target` to name one of the {outputs} outputs of this regression "
            "(got none). Pass the column to explain."
        )
    index = target or 0
    if not 0 <= index < outputs:
        raise InputError(
            f"Expected `target` to be an output column from 0 to {outputs - 1} "
            f"(got {index}). Pass a column that the model has."
        )
    return index


def check_finite(output: Tensor) -> None:
    """Refuse model outputs that are not numbers."""
    if not bool(torch.isfinite(output).all()):
        raise ModelError(
            f"Expected the model's outputs to be finite (got {_short(output.flatten().tolist())}). "
            "Check the weights and the scale of the features."
        )


def _short(values: list[float]) -> str:
    shown = ", ".join(f"{value:.4g}" for value in values[:4])
    return f"[{shown}, …]" if len(values) > 4 else f"[{shown}]"
