from __future__ import annotations

from typing import Any

import pytest
import torch

from eigsearch.inference.labels import label_kind

NAN = float("nan")


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        ([torch.tensor([0.5]), torch.tensor([NAN])], "continuous"),
        ([torch.tensor([3])], "continuous"),
        ([torch.tensor([0.0]), torch.tensor([1.0])], "binary"),
        ([torch.tensor([1])], "binary"),
        ([torch.tensor([1.0])], "unknown"),
        ([torch.tensor([NAN]), None], "unknown"),
        ([torch.tensor([[0.0, 1.0]])], "unknown"),
        ([torch.tensor([])], "unknown"),
        ([torch.tensor([-1])], "unknown"),
        ([torch.tensor([-1.0])], "unknown"),
        ([torch.tensor([-1]), torch.tensor([0]), torch.tensor([1])], "unknown"),
        ([torch.tensor([-1.0]), torch.tensor([0.5])], "continuous"),
        ([torch.tensor([-2])], "continuous"),
    ],
)
def test_label_kind_of_one_column(labels: list[Any], kind: str) -> None:
    assert label_kind(labels, 1) == kind


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        ([torch.tensor([[1.0, 1.0, 0.0]])], "multi_hot"),
        ([torch.tensor([[1, 0, 0]]), torch.tensor([[0, 0, 0]])], "multi_hot"),
        ([torch.tensor([1.0, NAN, 1.0])], "multi_hot"),
        ([torch.tensor([[1.0, 0.0, 0.0]])], "one_each"),
        ([torch.eye(3)] * 3, "unknown"),
        ([torch.tensor([0.5])], "no_classes"),
        ([torch.tensor([[0.2, 0.3, 0.5]])], "unknown"),
        ([torch.tensor([[0.2, 0.3, 0.6]])], "continuous"),
        ([torch.tensor([[-0.5, 1.0, 0.5]])], "continuous"),
        ([torch.tensor([1, 0, 1])], "unknown"),
        ([torch.tensor([2])], "unknown"),
    ],
)
def test_label_kind_of_several_columns(labels: list[Any], kind: str) -> None:
    assert label_kind(labels, 3) == kind
