from __future__ import annotations

import pytest
import torch

from eigsearch.errors import InputError, ModelError
from eigsearch.inputs.computation_graph import ReceptiveField
from eigsearch.inputs.instance import Instance
from eigsearch.tasks import GraphLevel
from tests.nets import house

NO_ANCHORS = torch.zeros(0, dtype=torch.long)


def rows(output: torch.Tensor, graphs: int) -> torch.Tensor:
    return GraphLevel().output_rows(output, graphs, 9, NO_ANCHORS)


def test_output_rows_one_per_graph_are_returned_as_they_are() -> None:
    output = torch.arange(6.0).reshape(3, 2)
    assert torch.equal(rows(output, 3), output)


@pytest.mark.parametrize("shape", [(), (1,), (4,)])
def test_output_rows_of_a_single_graph_may_be_squeezed(shape: tuple[int, ...]) -> None:
    output = torch.ones(shape)
    assert rows(output, 1).shape == (1, output.numel())


def test_output_rows_one_number_per_graph_become_a_column() -> None:
    assert rows(torch.arange(3.0), 3).tolist() == [[0], [1], [2]]


@pytest.mark.parametrize("shape", [(9, 2), (2, 2, 2), (2,)])
def test_output_rows_not_one_per_graph_raise(shape: tuple[int, ...]) -> None:
    with pytest.raises(ModelError, match="each of 3 graphs"):
        rows(torch.ones(shape), 3)


def test_output_rows_with_a_dimension_too_many_are_told_their_shape() -> None:
    with pytest.raises(ModelError, match=r"got shape \[3, 1, 2\] .*\[graphs, classes\]"):
        rows(torch.ones(3, 1, 2), 3)


def test_prepare_a_graph_is_its_own_computation_graph() -> None:
    data = house()
    (prepared,) = GraphLevel().prepare([Instance(data)], "auto", ReceptiveField(None))
    assert prepared.groups.count == 9
    assert torch.equal(prepared.data.edge_index, data.edge_index)


def test_prepare_a_graph_that_cannot_be_explained_raises() -> None:
    data = house()
    data.x[0, 0] = float("nan")
    with pytest.raises(InputError, match="finite"):
        GraphLevel().prepare([Instance(house()), Instance(data)], "auto", ReceptiveField(None))


@pytest.mark.parametrize("takes_batch", [False, True])
def test_shares_calls_only_where_the_model_takes_a_batch(takes_batch: bool) -> None:
    assert GraphLevel().shares_calls(takes_batch) is takes_batch


def test_label_and_anchors_of_a_graph_are_empty() -> None:
    assert GraphLevel().label(()) == ""
    assert GraphLevel().anchors(Instance(house()), "auto") == ()


@pytest.mark.parametrize(
    ("label", "shape"),
    [([1], (1,)), ([1, 0, 1, 0], (1, 4)), ([0] * 9, (9,)), ([0] * 18, (18,))],
)
def test_labels_of_a_graph_are_a_row_unless_nodes_or_edges_have_as_many(
    label: list[int], shape: tuple[int, ...]
) -> None:
    data = house()
    data.y = torch.tensor(label)
    (prepared,) = GraphLevel().prepare([Instance(data)], "auto", ReceptiveField(None))
    assert GraphLevel().labels(prepared).shape == shape
