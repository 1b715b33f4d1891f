from __future__ import annotations

import pytest
import torch

from eigsearch.errors import InputError, ModelError
from eigsearch.inputs.computation_graph import ReceptiveField
from eigsearch.inputs.instance import Instance
from eigsearch.tasks import NodeLevel
from tests.nets import house

WHOLE = ReceptiveField(None)


@pytest.mark.parametrize("node", [-1, 9])
def test_check_node_that_the_graph_does_not_have_raises(node: int) -> None:
    assert NodeLevel().anchors(Instance(house(), node=8), "auto") == (8,)
    with pytest.raises(InputError, match="from 0 to 8"):
        NodeLevel().anchors(Instance(house(), node=node), "auto")


def test_prepare_nodes_of_one_graph_are_each_cut_to_their_reach() -> None:
    data = house()
    instances = [Instance(data, node=node) for node in (0, 7)]
    for prepared, instance in zip(
        NodeLevel().prepare(instances, "auto", ReceptiveField(1)), instances, strict=True
    ):
        assert prepared.source is data
        assert prepared.source_anchors == (instance.node,)
        assert prepared.nodes is not None
        assert int(prepared.nodes[prepared.anchors[0]]) == instance.node
        assert prepared.data.num_edges < data.num_edges


def test_prepare_another_graph_is_not_taken_for_the_last_one() -> None:
    level, smaller = NodeLevel(), house().subgraph(torch.arange(4))
    level.prepare([Instance(house(), node=0)], "auto", WHOLE)
    (prepared,) = level.prepare([Instance(smaller, node=0)], "auto", WHOLE)
    assert prepared.data.num_nodes == 4


def test_output_rows_are_those_of_the_anchors() -> None:
    output = torch.arange(12.0).reshape(6, 2)
    found = NodeLevel().output_rows(output, 2, 6, torch.tensor([1, 4]))
    assert found.tolist() == [[2, 3], [8, 9]]
    column = NodeLevel().output_rows(torch.arange(6.0), 2, 6, torch.tensor([1, 4]))
    assert column.tolist() == [[1], [4]]


@pytest.mark.parametrize("output", [torch.tensor(2.0), torch.tensor([2.0, 3.0])])
def test_output_rows_of_a_single_node_may_be_squeezed(output: torch.Tensor) -> None:
    found = NodeLevel().output_rows(output, 1, 1, torch.tensor([0]))
    assert found.tolist() == [output.reshape(-1).tolist()]


@pytest.mark.parametrize("shape", [(2, 3), (6, 2, 1), ()])
def test_output_rows_not_one_per_node_raise(shape: tuple[int, ...]) -> None:
    with pytest.raises(ModelError, match="each of 6 nodes"):
        NodeLevel().output_rows(torch.ones(shape), 2, 6, torch.tensor([1, 4]))


def test_shares_calls_with_or_without_batch_and_is_called_by_its_number() -> None:
    assert NodeLevel().shares_calls(False)
    assert NodeLevel().label((7,)) == "node 7"
