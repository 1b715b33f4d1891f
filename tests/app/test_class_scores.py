import pytest
import torch

from eigsearch.app.class_scores import to_scores


@pytest.mark.parametrize(
    ("row", "task", "return_type", "expected"),
    [
        ([0.0, 0.0], "multiclass_classification", "raw", [0.5, 0.5]),
        ([0.25, 0.75], "multiclass_classification", "probs", [0.25, 0.75]),
        ([-0.6931471806, -0.6931471806], "multiclass_classification", "log_probs", [0.5, 0.5]),
        ([0.0], "binary_classification", "raw", [0.5, 0.5]),
        ([0.9], "binary_classification", "probs", [0.1, 0.9]),
        ([0.0, 100.0], "binary_classification", "raw", [0.5, 1.0]),
        ([3.5], "regression", "raw", [3.5]),
    ],
)
def test_to_scores_by_task_and_return_type(row, task, return_type, expected):
    assert to_scores(torch.tensor(row).double(), task, return_type).tolist() == pytest.approx(
        expected
    )
