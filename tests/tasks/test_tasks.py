from __future__ import annotations

import pytest

from eigsearch.errors import InputError
from eigsearch.inputs.instance import Instance
from eigsearch.tasks import GraphLevel, NodeLevel, anchors_of, level_of, task_level
from tests.nets import house


def test_anchors_of_a_graph_are_none_and_of_a_node_itself() -> None:
    assert anchors_of(None) == ()
    assert anchors_of(0) == (0,)


def test_level_of_anchors_is_their_kind_of_prediction() -> None:
    assert isinstance(level_of(()), GraphLevel)
    assert isinstance(level_of((0,)), NodeLevel)


def test_task_level_instances_of_one_kind() -> None:
    assert isinstance(task_level([]), GraphLevel)
    assert isinstance(task_level([Instance(house()), Instance(house())]), GraphLevel)
    assert isinstance(task_level([Instance(house(), node=0)]), NodeLevel)


def test_task_level_graphs_and_nodes_together_raise() -> None:
    with pytest.raises(InputError, match="one kind"):
        task_level([Instance(house()), Instance(house(), node=0)])
