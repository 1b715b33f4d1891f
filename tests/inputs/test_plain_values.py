from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.data import Batch, Data

from eigsearch.inputs.plain_values import collated, comparable, holds_rows

EDGES = torch.tensor([[0, 1], [1, 2]])  # three nodes, two edges


@pytest.mark.parametrize(
    "values",
    [("a", "b"), (1, 2), (1.5, 2.5), ([1, 2], [3]), ({"a": 1.0}, {"a": 2.0})],
)
def test_collated_values_are_as_in_a_batch_of_pyg(values: tuple[Any, Any]) -> None:
    graphs = [Data(x=torch.zeros(3, 1), edge_index=EDGES, value=value) for value in values]
    expected = Batch.from_data_list(graphs).value
    found = collated(values)
    if isinstance(expected, torch.Tensor):
        assert torch.equal(found, expected)
    else:
        assert repr(found) == repr(expected)


@pytest.mark.parametrize(
    ("value", "holds"),
    [("abc", False), (3, False), ([1, 2, 3], True), ((1, 2), True), ([1], False),
     (np.zeros(3), True), ({"deep": [torch.zeros(2)]}, True), ({"deep": torch.zeros(5)}, False),
     (torch.tensor(1.0), False)],
)  # fmt: skip
def test_holds_rows_value_as_long_as_nodes_or_edges(value: Any, holds: bool) -> None:
    data = Data(x=torch.zeros(3, 1), edge_index=EDGES)
    assert holds_rows(value, data) == holds


def test_comparable_values_without_a_plain_comparison_go_by_identity() -> None:
    value = [torch.zeros(2)]
    assert comparable("a") == "a"
    assert comparable(1.5) == 1.5
    assert comparable(value) == comparable(value) != comparable([torch.zeros(2)])
