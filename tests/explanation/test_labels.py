from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch_geometric.data import Data

import eigsearch
from eigsearch.explanation.labels import true_label
from tests.nets import house, make_net


def explained(node: int | None = None) -> eigsearch.SubgraphExplanation:
    return eigsearch.explain(make_net(pool="mean" if node is None else None), house(), node=node)


GRAPH, NODE = explained(), explained(node=2)


def labelled(explanation: eigsearch.SubgraphExplanation, y: object) -> object:
    data = Data(edge_index=explanation.data.edge_index, num_nodes=9)
    data.y = y
    return true_label(replace(explanation, data=data))


@pytest.mark.parametrize(
    ("y", "label"),
    [(torch.tensor([1]), 1), (torch.tensor(0.25), 0.25), (torch.tensor([2.0]), 2),
     (torch.tensor([float("nan")]), None), (torch.tensor([0, 1]), None), (None, None), (1, None)],
)  # fmt: skip
def test_true_label_of_a_graph_is_its_one_finite_label(y: object, label: object) -> None:
    assert labelled(GRAPH, y) == label


def test_true_label_of_a_node_is_the_one_at_its_number() -> None:
    assert labelled(NODE, torch.arange(9) * 10) == 20


@pytest.mark.parametrize("y", [torch.tensor([1]), torch.tensor(1), torch.arange(12)])
def test_true_label_of_a_node_of_a_graph_without_labels_for_its_nodes_is_none(y: object) -> None:
    assert labelled(NODE, y) is None


def test_true_label_of_a_regression_with_several_outputs_is_that_of_the_target() -> None:
    regression = replace(GRAPH, target=1, config={"task": "regression"})
    assert labelled(regression, torch.tensor([[0.5, 1.5]])) == 1.5


def test_true_label_of_a_link_is_none() -> None:
    assert labelled(replace(GRAPH, link=(0, 1)), torch.tensor([1])) is None
