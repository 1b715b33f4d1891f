"""How outputs are read: from what users say, labels, numbers and the last operation."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from eigsearch.errors import AmbiguousOutputError, InputError, ModelError
from eigsearch.inference.output_type import (
    OutputType,
    check_names,
    check_same_reading,
    read_outputs,
    resolve_target,
)

LOGITS = torch.tensor([[2.0, -1.0, 0.5], [0.0, 3.0, 1.0]], dtype=torch.float64)
SHARES = torch.tensor([[0.4, 0.9, 0.3]])


def read(outputs: Tensor, op: Any = None, label: Any = None, **said: str) -> OutputType:
    options = {"task": "auto", "return_type": "auto", **said}
    return read_outputs(outputs, labels=[label], last_op=lambda: op, **options)


def kind(*args: Any, **said: Any) -> tuple[str, str]:
    found = read(*args, **said)
    return found.task, found.return_type


@pytest.mark.parametrize(
    ("outputs", "return_type"),
    [(LOGITS, "raw"), (LOGITS.softmax(1), "probs"), (LOGITS.log_softmax(1), "log_probs")],
)
def test_read_outputs_of_several_columns_goes_by_the_numbers(
    outputs: Tensor, return_type: str
) -> None:
    assert kind(outputs) == ("multiclass_classification", return_type)


def test_read_outputs_with_one_row_that_is_no_distribution_reads_all_as_raw() -> None:
    rows = torch.cat([LOGITS.softmax(1), LOGITS])
    assert kind(rows) == ("multiclass_classification", "raw")


def test_read_outputs_that_sum_to_a_hundred_asks_whether_they_are_percentages() -> None:
    percentages = 100 * LOGITS.softmax(1)
    with pytest.raises(InputError, match=r"sum to 100.*return_type='raw'"):
        read(percentages)
    assert kind(percentages, return_type="raw") == ("multiclass_classification", "raw")


@pytest.mark.parametrize("value", [0.3, 2.39, -1.0])
@pytest.mark.parametrize("label", [None, torch.tensor([torch.nan]), torch.tensor([1.0])])
def test_read_outputs_of_one_column_without_evidence_asks_for_the_task(
    value: float, label: Tensor | None
) -> None:
    with pytest.raises(InputError, match=r"task='binary'.*task='regression'"):
        read(torch.tensor([[value]]), label=label, op="linear")


@pytest.mark.parametrize(
    ("label", "task"),
    [
        (torch.tensor([0.37]), "regression"),
        (torch.tensor([3]), "regression"),
        (torch.tensor([3.0, 1.0, 0.0]), "regression"),
        (torch.tensor([1]), "binary_classification"),
        (torch.tensor([True]), "binary_classification"),
        (torch.tensor([1.0, 0.0, torch.nan]), "binary_classification"),
    ],
)
def test_read_outputs_of_one_column_goes_by_the_labels(label: Tensor, task: str) -> None:
    assert kind(torch.tensor([[0.3]]), op="linear", label=label) == (task, "raw")


def test_read_outputs_of_one_column_goes_by_a_final_sigmoid() -> None:
    assert kind(torch.tensor([[0.3]]), op="probs") == ("binary_classification", "probs")
    assert kind(torch.tensor([[-0.3]]), op="log_probs") == ("binary_classification", "log_probs")
    label = torch.tensor([0.37])
    assert kind(torch.tensor([[0.3]]), op="probs", label=label) == ("regression", "raw")


def test_read_outputs_of_a_binary_model_asks_where_scores_look_like_probabilities() -> None:
    row, label = torch.tensor([[0.3]]), torch.tensor([1])
    with pytest.raises(InputError, match=r"return_type='raw' or return_type='probs'"):
        read(row, label=label, op="squashed")
    with pytest.raises(InputError, match=r"return_type='raw' or return_type='probs'"):
        read(row.repeat(32, 1), label=label)
    assert kind(row, label=label)[1] == "raw"
    assert kind(row, label=label, return_type="probs")[1] == "probs"
    assert kind(torch.tensor([[0.3], [1.7]]), label=label)[1] == "raw"


@pytest.mark.parametrize(
    ("label", "task"),
    [
        (torch.tensor([[0.5, -2.0, 31.0]]), "regression"),
        (torch.tensor([[0.5, torch.nan, 31.0]]), "regression"),
        (torch.tensor([[1.0, 0.0, 1.0]]), "binary_classification"),
        (torch.tensor([[1, 0, 1]]), "binary_classification"),
        (torch.tensor([[0.0, 0.0, 0.0]]), "binary_classification"),
        (torch.tensor([[1.0, torch.nan, 1.0]]), "binary_classification"),
        (torch.tensor([[1.0, torch.nan, 0.0]]), "binary_classification"),
        ([1, 0, 1], "binary_classification"),
        (torch.eye(3).repeat(3, 1), "multiclass_classification"),
        (torch.tensor([[0.2, 0.7, 0.1]]), "multiclass_classification"),
        (torch.tensor([2.0]), "multiclass_classification"),
        (torch.tensor([3]), "multiclass_classification"),  # counted from 1
        (torch.tensor([-1]), "multiclass_classification"),  # unlabelled
        (2, "multiclass_classification"),
        ("toxic", "multiclass_classification"),
        (torch.full((1, 3), torch.nan), "multiclass_classification"),
    ],
)
def test_read_outputs_of_several_columns_goes_by_their_labels(label: Any, task: str) -> None:
    assert kind(LOGITS, label=label) == (task, "raw")


@pytest.mark.parametrize(
    "label",
    [
        torch.tensor([2.37]),  # of a mean and a variance, of quantiles
        torch.tensor([[0.4]]),
        2.37,
        torch.tensor([4]),  # a count
        torch.tensor([0, 3]),  # an ordinal of four levels in three logits
        torch.tensor([[1.5, 2.5]]),
        torch.tensor([[1.0, 0.0, 1.0, 1.0, 0.0, 0.0]]),
    ],
)
def test_read_outputs_whose_labels_are_no_classes_asks_for_the_task(label: Any) -> None:
    with pytest.raises(AmbiguousOutputError, match=r"labels to fit.*task='regression'"):
        read(LOGITS, label=label)
    assert kind(LOGITS, label=label, task="multiclass") == ("multiclass_classification", "raw")
    assert kind(LOGITS.softmax(1), label=label)[1] == "probs"


def test_read_outputs_whose_labels_have_a_single_1_each_asks_for_the_task() -> None:
    label = torch.tensor([[0, 1, 0], [1, 0, 0]])
    with pytest.raises(
        AmbiguousOutputError, match="task='multiclass' if they do, else task='multilabel'"
    ):
        read(LOGITS, label=label)
    assert kind(LOGITS, label=label, task="multilabel") == ("binary_classification", "raw")
    assert kind(LOGITS.log_softmax(1), label=label)[0] == "multiclass_classification"


@pytest.mark.parametrize(
    ("value", "op"), [(49.0, "squashed"), (-0.4, "squashed"), (0.7, "positive")]
)
def test_read_outputs_of_one_column_that_is_no_logit_asks_for_the_task(
    value: float, op: str
) -> None:
    """A percentage, a tangent or a rate would be taken for log-odds."""
    with pytest.raises(AmbiguousOutputError, match=r"task='binary'.*task='regression'"):
        read(torch.tensor([[value]]), label=torch.tensor([1]), op=op)


def test_read_outputs_of_one_column_with_labels_of_a_hinge_loss_asks_for_the_task() -> None:
    with pytest.raises(AmbiguousOutputError, match=r"task='binary'.*task='regression'"):
        read(torch.tensor([[0.3]]), label=torch.tensor([1, -1]), op="linear")


def test_read_outputs_of_several_log_sigmoids_reads_independent_classes() -> None:
    outputs = torch.nn.functional.logsigmoid(LOGITS)
    assert kind(outputs, op="log_probs") == ("binary_classification", "log_probs")
    assert kind(outputs, op="linear") == ("multiclass_classification", "raw")


def test_read_outputs_of_several_sigmoids_reads_independent_classes() -> None:
    assert kind(SHARES, op="probs") == ("binary_classification", "probs")
    assert kind(SHARES, op="linear") == ("multiclass_classification", "raw")
    with pytest.raises(InputError, match="task='multilabel'"):
        read(SHARES, op="squashed")
    assert kind(SHARES, return_type="raw") == ("multiclass_classification", "raw")
    assert kind(SHARES, task="multilabel", op="probs") == ("binary_classification", "probs")


@pytest.mark.parametrize("output", [torch.tensor([[2]]), torch.tensor([[True]])])
def test_read_outputs_of_integers_refuses_class_numbers(output: Tensor) -> None:
    with pytest.raises(ModelError, match="scores or probabilities"):
        read(output)
    assert kind(output, task="regression") == ("regression", "raw")


@pytest.mark.parametrize(
    ("word", "task"),
    [
        ("binary", "binary_classification"),
        ("multilabel", "binary_classification"),
        ("regression", "regression"),
        ("multiclass", "multiclass_classification"),
    ],
)
def test_read_outputs_takes_the_words_that_users_type(word: str, task: str) -> None:
    check_names(word, "auto")
    assert kind(LOGITS, task=word)[0] == task


def test_check_same_reading_refuses_a_second_reading_in_one_run() -> None:
    probs = read(LOGITS.softmax(1))
    check_same_reading(probs, LOGITS.softmax(1))
    with pytest.raises(InputError, match="for every prediction"):
        check_same_reading(probs, LOGITS)


def test_resolve_target_explains_the_prediction_by_default() -> None:
    output_type = read(LOGITS)
    assert resolve_target(output_type, LOGITS[0], None)[0].index == 0
    target, prediction = resolve_target(output_type, LOGITS[0], 2)
    assert (target.index, prediction) == (2, 0)
    with pytest.raises(InputError, match="a class from 0 to 2"):
        resolve_target(output_type, LOGITS[0], 3)


@pytest.mark.parametrize(("value", "predicted"), [(0.0, 0), (1e-6, 1), (-1e-6, 0)])
def test_resolve_target_of_a_zero_logit_is_class_0_as_in_pyg(value: float, predicted: int) -> None:
    output_type = OutputType("binary_classification", "raw", "")
    assert resolve_target(output_type, torch.tensor([value]), None)[1] == predicted


def test_resolve_target_of_a_regression_is_a_column() -> None:
    regression = OutputType("regression", "raw", "")
    target, value = resolve_target(regression, torch.tensor([0.25]), None)
    assert (target.index, value) == (0, 0.25)
    with pytest.raises(InputError, match="one of the 3 outputs"):
        resolve_target(regression, LOGITS[0], None)
