"""Training data of learned explainers: which nodes they are trained on."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from eigsearch import explainers
from eigsearch.errors import InputError
from eigsearch.explainers.common import training_data
from eigsearch.explainers.common.training_data import training_instances
from eigsearch.explainers.registry import method_class
from eigsearch.inputs.instance import Instance
from tests.properties.test_explainer_contract import Net, tailed, training_graphs

WITH_NUM_NODES = [
    name for name in explainers.names() if "num_nodes" in method_class(name).cheap_options
]


def test_training_instances_are_about_the_given_nodes_and_no_more_than_wanted():
    model = Net(task="node").eval()
    found = training_instances(model, [tailed()], 2, train_nodes=[1, 3, 4])
    assert len(found) == 2
    assert {instance.source_node for instance in found} < {1, 3, 4}
    everyone = training_instances(model, [tailed()], 60, train_nodes=[1, 3, 4])
    assert {instance.source_node for instance in everyone} == {1, 3, 4}


@pytest.mark.parametrize("nodes", [[], [7], [-1]])
def test_training_instances_without_such_nodes_raise(nodes):
    with pytest.raises(InputError, match="nodes from 0 to 4"):
        training_instances(Net(task="node").eval(), [tailed()], 3, train_nodes=nodes)


@pytest.mark.parametrize("name", WITH_NUM_NODES)
def test_fit_with_nodes_trains_on_these(name, monkeypatch):
    asked: list[int] = []
    choose = training_data._instances

    def recorded(*args: Any) -> list[Instance]:
        chosen = choose(*args)
        if args[-1] is not None:  # RCExplainer also finds its planes between all other nodes
            asked.extend(int(instance.node) for instance in chosen if instance.node is not None)
        return chosen

    monkeypatch.setattr(training_data, "_instances", recorded)
    method = explainers.get(name, **method_class(name).cheap_options)
    method.fit(Net(task="node").eval(), training_graphs(), nodes=torch.tensor([1, 2]))
    assert set(asked) == {1, 2}
