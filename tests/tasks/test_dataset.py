from __future__ import annotations

import pytest
import torch
from torch_geometric.data import Data

from eigsearch.errors import InputError
from eigsearch.tasks.dataset import dataset_instances
from tests.nets import house


def graphs(count: int) -> list[Data]:
    return [house(seed) for seed in range(count)]


def test_dataset_instances_one_target_is_that_of_all_graphs() -> None:
    given = graphs(2)
    found = list(dataset_instances(given, 1, None))
    assert [instance.data for instance in found] == given
    assert [(instance.target, instance.node) for instance in found] == [(1, None)] * 2


def test_dataset_instances_one_graph_alone_is_a_data_set_of_one() -> None:
    assert len(list(dataset_instances(house(), None, None))) == 1


def test_dataset_instances_nodes_by_number_or_mask_are_the_same() -> None:
    data, mask = house(), torch.zeros(9, dtype=torch.bool)
    mask[[2, 5]] = True
    for node in ([2, 5], mask):
        found = list(dataset_instances(data, [0, 1], node))
        assert [(instance.node, instance.target) for instance in found] == [(2, 0), (5, 1)]


def test_dataset_instances_nodes_of_several_graphs_raise() -> None:
    with pytest.raises(InputError, match="one graph together with `node`"):
        dataset_instances(graphs(2), None, [0])


def test_dataset_instances_targets_of_a_list_are_counted_before_the_first() -> None:
    with pytest.raises(InputError, match=r"each of 2 predictions \(got 3\)"):
        dataset_instances(graphs(2), [0, 1, 0], None)


@pytest.mark.parametrize(
    ("count", "targets", "words"),
    [(2, [0, 1, 0], r"of 2 predictions \(got more than 2\)"), (3, [0, 1], r"more than 2 .*got 2")],
)
def test_dataset_instances_targets_of_a_stream_are_counted_at_its_end(
    count: int, targets: list[int], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        list(dataset_instances(iter(graphs(count)), targets, None))


def test_dataset_instances_model_in_place_of_graphs_raises() -> None:
    with pytest.raises(InputError, match=r"\(got Linear\)\. Pass the model first"):
        dataset_instances(torch.nn.Linear(1, 1), None, None)
