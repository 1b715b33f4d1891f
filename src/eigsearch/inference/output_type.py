"""Determine what a model's output means: the task, and the kind of numbers.

Decided once for all predictions of a run, from what the user says, the labels, the numbers and the
model's last operation. Where two readings are left, the user is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
from torch import Tensor

from eigsearch._utils.tolerances import PROBABILITY
from eigsearch.errors import AmbiguousOutputError, InputError, ModelError
from eigsearch.inference.labels import LabelKind, label_kind
from eigsearch.inference.last_op import LastOp
from eigsearch.inference.target import (
    ReturnType,
    Target,
    Task,
    contrast_target,
    short_row,
)

RETURN_TYPES = ("auto", "raw", "log_probs", "probs")
_TASK_NAMES: dict[str, str] = {
    "auto": "auto",
    "classification": "classification",
    "multiclass": "multiclass_classification",
    "multiclass_classification": "multiclass_classification",
    "binary": "binary_classification",
    "binary_classification": "binary_classification",
    "multilabel": "binary_classification",
    "regression": "regression",
}
TASKS = tuple(_TASK_NAMES)
_ONE_OUTPUT = "one column of a link"  # a reading that nothing but the kind of prediction tells
_MANY = 32  # with this many predictions, scores are not all between 0 and 1 by coincidence


@dataclass(frozen=True)
class OutputType:
    """The interpretation of outputs.

    Attributes:
        task: The task, in PyG's words; several independent classes are `binary_classification`.
        return_type: Raw scores, log-probabilities or probabilities.
        reason: What decided it, in a few words.
    """

    task: Task
    return_type: ReturnType
    reason: str

    def __str__(self) -> str:
        return f"{self.task}, {self.return_type} ({self.reason})"


def check_names(task: str, return_type: str) -> None:
    """Raise InputError if a task or a return type does not exist."""
    if task not in TASKS:
        raise InputError(
            f"Expected `task` to be one of {', '.join(TASKS)} (got {task!r}). "
            "A node is explained with `node=`."
        )
    if return_type not in RETURN_TYPES:
        raise InputError(
            f"Expected `return_type` to be one of {', '.join(RETURN_TYPES)} (got {return_type!r}). "
            "Say what the model returns, or leave it to 'auto'."
        )


def read_outputs(
    outputs: Tensor,
    *,
    task: str,
    return_type: str,
    labels: Sequence[Any] = (),
    last_op: Callable[[], LastOp | None] = lambda: None,
    one_output: str = "",
) -> OutputType:
    """Return the interpretation of output rows `[n, C]`.

    Args:
        outputs: One row for each prediction.
        task: What the user says about the task, or `"auto"`.
        return_type: What the user says about the numbers, or `"auto"`.
        labels: The labels `y` of the graphs; None where there is none.
        last_op: Called where only the model's last operation can decide.
        one_output: The task of a model with one output where nothing else tells it; "" asks.

    Raises:
        InputError: If the outputs are not what the user says, or allow two readings.
        ModelError: If a classifier returns integers.
    """
    evidence = _Evidence(outputs, label_kind(labels, outputs.size(1)), last_op, one_output)
    if _TASK_NAMES[task] != "regression" and evidence.labels != "continuous":
        _check_floating(outputs)
    found, reason = _read_task(_TASK_NAMES[task], evidence)
    if found == "regression":
        return OutputType(found, "raw", reason)
    if return_type != "auto":
        kind: ReturnType = return_type  # type: ignore[assignment]
        _check_return_type(kind, found, outputs)
        return OutputType(found, kind, f"{reason}, return_type={return_type!r}")
    kind, more = _read_return_type(found, evidence)
    return OutputType(found, kind, f"{reason}, {more}")


def check_same_reading(output_type: OutputType, outputs: Tensor) -> None:
    """Raise InputError if later outputs of a run contradict the interpretation of the first."""
    if output_type.task != "regression":
        _check_return_type(output_type.return_type, output_type.task, outputs)


def note_on_one_output(output_type: OutputType | None) -> str:
    """Return a note if the interpretation of a single output rests on the task level alone."""
    if output_type is None or not output_type.reason.startswith(_ONE_OUTPUT):
        return ""
    return (
        "The model's one output is read as the log-odds of the link; pass task='regression' if it "
        "is a rating."
    )


def resolve_target(
    output_type: OutputType,
    output: Tensor,
    target: int | None,
    rather_than: int | None = None,
    above: float | None = None,
) -> tuple[Target, int | float]:
    """Return the target of one output row `[C]`, and the model's prediction there.

    Args:
        output_type: How the row is read.
        output: The row.
        target: The class or column that the user asks for; None for the predicted class.
        rather_than: The class that it is explained against; None for all others.
        above: The value that a regressed one is explained to be above.

    Raises:
        InputError: If the model has no such class or column, or the task no such contrast.
    """
    aimed, prediction = _plain_target(output_type, output, target)
    if rather_than is not None or above is not None:
        aimed = contrast_target(aimed, prediction, output.numel(), rather_than, above)
    return aimed, prediction


def _plain_target(
    output_type: OutputType, output: Tensor, target: int | None
) -> tuple[Target, int | float]:
    row: list[float] = output.tolist()
    task, kind = output_type.task, output_type.return_type
    if task == "regression":
        index = _regression_column(target, len(row))
        return Target(task, "raw", index), row[index]
    classes = 2 if task == "binary_classification" and len(row) == 1 else len(row)
    prediction = _predicted_class(kind, row)
    index = prediction if target is None else target
    if not 0 <= index < classes:
        raise InputError(
            f"Expected `target` to be a class from 0 to {classes - 1} (got {index}). "
            "Pass a class that the model has, or leave it out to explain the prediction."
        )
    return Target(task, kind, index), prediction


class _Evidence:
    """Evidence from outputs, labels and the last operation, which is recorded at most once."""

    def __init__(
        self,
        outputs: Tensor,
        labels: LabelKind,
        last_op: Callable[[], LastOp | None],
        one_output: str = "",
    ) -> None:
        self.one_output = one_output
        values = _as_array(outputs)
        self.rows, self.columns = values.shape
        self.labels = labels
        self._first = outputs[0]
        self._last_op = last_op
        self._op: LastOp | None = None
        self._asked = False
        positive = bool((values >= 0).all())
        self.in_unit_interval = positive and bool((values <= 1 + PROBABILITY).all())
        self.probabilities = self.in_unit_interval and _sum_to_one(values)
        self.percentages = positive and _sum_to_one(values / 100)
        negative = bool((values <= PROBABILITY).all())
        self.log_probabilities = negative and _sum_to_one(np.exp(values))
        self.falls_short_of_log_probabilities = negative and not self.log_probabilities

    @property
    def shown(self) -> str:
        """The first row, for messages."""
        return short_row(self._first.tolist())

    @property
    def op(self) -> LastOp | None:
        if not self._asked:
            self._op, self._asked = self._last_op(), True
        return self._op

    @property
    def is_no_logit(self) -> bool:
        """Whether a single output is neither a logit nor a probability: bounded, or positive."""
        return self.op == "positive" or (self.op == "squashed" and not self.in_unit_interval)


def _read_task(task: str, evidence: _Evidence) -> tuple[Task, str]:
    if task == "multiclass_classification" and evidence.columns == 1:
        raise InputError(
            "Expected a multi-class model to return at least two columns (got one). "
            "Pass task='binary' or task='regression'."
        )
    if task not in ("auto", "classification"):
        return task, f"task={task!r}"  # type: ignore[return-value]
    if task == "auto" and evidence.labels == "continuous":
        return "regression", "labels are continuous"
    if evidence.columns == 1:
        return _read_one_column(task, evidence)
    if evidence.labels == "multi_hot":
        return "binary_classification", "labels are multi-hot"
    if evidence.in_unit_interval and not evidence.probabilities and evidence.op == "probs":
        return "binary_classification", "several sigmoids"
    if evidence.falls_short_of_log_probabilities and evidence.op == "log_probs":
        return "binary_classification", "several sigmoids"
    _check_labels(evidence)
    return "multiclass_classification", f"{evidence.columns} columns"


def _read_one_column(task: str, evidence: _Evidence) -> tuple[Task, str]:
    if task == "classification":
        return "binary_classification", "one column"
    if evidence.op in ("probs", "log_probs"):
        return "binary_classification", "one column after a sigmoid"
    if evidence.labels == "binary" and not evidence.is_no_logit:
        return "binary_classification", "one column, labels are 0 and 1"
    if evidence.one_output:
        return evidence.one_output, _ONE_OUTPUT  # type: ignore[return-value]
    raise AmbiguousOutputError(
        "Expected the labels or the last operation of a model with one output to tell whether it "
        f"classifies or regresses (got neither; it returns {evidence.shown}). "
        "Pass task='binary' (with return_type='raw' or 'probs') or task='regression'."
    )


def _check_labels(evidence: _Evidence) -> None:
    """Raise AmbiguousOutputError if the labels suggest that the outputs are not classes."""
    if evidence.probabilities or evidence.log_probabilities:
        return
    if evidence.labels == "no_classes":
        raise AmbiguousOutputError(
            f"Expected the labels to fit a model with {evidence.columns} outputs (got labels that "
            f"are none of its classes; it returns {evidence.shown}). Pass task='regression' with "
            "the column as `target`, task='multilabel' or task='multiclass'."
        )
    if evidence.labels == "one_each":
        raise AmbiguousOutputError(
            "Expected the labels to show whether classes exclude each other (got a single 1 in "
            f"each, which fits both; the model returns {evidence.shown}). Pass task='multiclass' "
            "if they do, else task='multilabel'."
        )


def _read_return_type(task: Task, evidence: _Evidence) -> tuple[ReturnType, str]:
    """Return whether outputs are raw scores, log-probabilities or probabilities."""
    if task == "multiclass_classification":
        if evidence.probabilities:
            return "probs", "rows sum to 1"
        if evidence.log_probabilities:
            return "log_probs", "exponentials sum to 1"
    elif evidence.op in ("probs", "log_probs"):
        return evidence.op, "after a sigmoid"
    if evidence.percentages and evidence.columns > 1:
        raise AmbiguousOutputError(
            "Expected the outputs of a classifier to be scores or probabilities (got rows that sum "
            f"to 100 such as {evidence.shown}, as percentages do). Divide them by 100 in "
            "`forward=`, or pass return_type='raw' if they are scores."
        )
    if not evidence.in_unit_interval:
        return "raw", "not all in [0, 1]"
    if evidence.op == "linear":
        return "raw", "after a linear layer"
    if evidence.op in (None, "positive") and evidence.rows < _MANY:
        return "raw", "no sigmoid or softmax seen"
    raise AmbiguousOutputError(
        "Expected the outputs of a classifier to show whether they are scores or probabilities "
        f"(got numbers from 0 to 1 such as {evidence.shown}, which can be either). Pass "
        "return_type='raw' or return_type='probs', and task='multilabel' for independent classes."
    )


def _check_floating(outputs: Tensor) -> None:
    if not outputs.is_floating_point():
        raise ModelError(
            f"Expected a classifier to return scores or probabilities (got {outputs.dtype}). "
            "Return the scores by which the class is chosen, or pass task='regression' for a "
            "count."
        )


def _check_return_type(return_type: ReturnType, task: Task, outputs: Tensor) -> None:
    if return_type == "raw":
        return
    values = _as_array(outputs)
    shares = np.exp(values.clip(max=1)) if return_type == "log_probs" else values
    fits = bool((shares >= 0).all() and (shares <= 1 + PROBABILITY).all())
    if task == "multiclass_classification":
        fits = fits and _sum_to_one(shares)
    if not fits:
        raise InputError(
            f"Expected the model to return {return_type} for every prediction (got "
            f"{short_row(_least_fitting(shares, outputs))}). Pass the return_type that describes "
            "the outputs: 'raw', 'log_probs' or 'probs'."
        )


def _least_fitting(shares: np.ndarray, outputs: Tensor) -> list[float]:
    """Return the output row that is furthest from a distribution."""
    outside = np.abs(shares - shares.clip(0, 1)).sum(axis=1)
    away = outside + np.abs(shares.sum(axis=1) - 1)
    return outputs[int(away.argmax())].tolist()


def _as_array(outputs: Tensor) -> np.ndarray:
    """Return outputs as a NumPy array, which is three times as fast for a few numbers."""
    return outputs.detach().double().cpu().numpy()


def _sum_to_one(values: np.ndarray) -> bool:
    return bool((np.abs(values.sum(axis=1) - 1) < PROBABILITY).all())


def _predicted_class(return_type: ReturnType, row: list[float]) -> int:
    if len(row) > 1:
        return row.index(max(row))
    even = {"raw": 0.0, "probs": 0.5, "log_probs": -log(2)}
    return int(row[0] > even[return_type])


def _regression_column(target: int | None, outputs: int) -> int:
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
