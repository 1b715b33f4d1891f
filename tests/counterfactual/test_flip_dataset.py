"""`flip` over a data set: the same answers alone, together, in workers and in PyG's `Explainer`."""

from __future__ import annotations

from itertools import chain
from typing import Any

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Batch, Data
from torch_geometric.explain import Explainer

import eigsearch
from eigsearch.counterfactual.explanation import FlipExplanation
from eigsearch.errors import InputError
from eigsearch.explanation import FailedExplanation
from tests.counterfactual.test_flip import NodeNet
from tests.search.brute import Net, random_graph

GRAPHS = [random_graph(seed) for seed in range(6)]


def assert_same(found: list[Any], expected: list[Any]) -> None:
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert isinstance(one, FlipExplanation)
        assert one.sentence() == other.sentence()
        assert torch.equal(one.edge_mask, other.edge_mask)
        assert torch.equal(one.added, other.added)
        torch.testing.assert_close(one.score, other.score, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("engine", ["batched", "incremental"])
def test_flip_dataset_gives_what_each_graph_gives_alone(engine: str) -> None:
    options: dict[str, Any] = {"add": True, "engine": engine}
    model = Net(3, outputs=3)
    together = list(eigsearch.flip_dataset(model, GRAPHS, progress=False, **options))
    assert_same(together, [eigsearch.flip(model, graph, **options) for graph in GRAPHS])


def test_flip_dataset_shares_model_calls() -> None:
    model, calls = Net(3), []
    model.register_forward_hook(lambda *_: calls.append(1))
    for graph in GRAPHS:
        eigsearch.flip(model, graph, engine="batched")
    alone = len(calls)
    calls.clear()
    list(eigsearch.flip_dataset(model, GRAPHS, engine="batched", progress=False))
    assert len(calls) < alone / 2


def test_flip_dataset_in_workers_gives_the_same_answers() -> None:
    options: dict[str, Any] = {"answers": 3, "add": True, "progress": False}
    here = list(eigsearch.flip_dataset(Net(3), GRAPHS, **options))
    there = list(eigsearch.flip_dataset(Net(3), GRAPHS, workers=2, **options))
    assert [len(answers) for answers in here] == [len(answers) for answers in there]
    assert_same(list(chain.from_iterable(there)), list(chain.from_iterable(here)))
    assert max(map(len, here)) == 3


def test_flip_dataset_nodes_of_one_graph() -> None:
    data = random_graph(5, nodes=20, edges=30)
    model = NodeNet()
    together = list(eigsearch.flip_dataset(model, data, node=range(4), progress=False))
    assert_same(together, [eigsearch.flip(model, data, node=node) for node in range(4)])


def test_flip_dataset_a_regression_crosses_the_value() -> None:
    model = Net(7, outputs=1)
    to = eigsearch.explain(model, GRAPHS[0], task="regression").value + 0.2
    options: dict[str, Any] = {"task": "regression", "to": to, "progress": False}
    answers = list(eigsearch.flip_dataset(model, GRAPHS, **options))
    flipped = [answer for answer in answers if answer.flipped]
    assert flipped
    assert all((a.value > to) != (a.value_after > to) for a in flipped)


def test_flip_dataset_skips_a_graph_that_fails() -> None:
    broken = Data(x=torch.ones(2, 7), edge_index=torch.tensor([[0, 1], [1, 0]]))
    graphs = [GRAPHS[0], broken, GRAPHS[1]]
    found = list(eigsearch.flip_dataset(Net(3), graphs, on_error="skip", progress=False))
    assert [type(each) for each in found] == [FlipExplanation, FailedExplanation, FlipExplanation]
    with pytest.raises(eigsearch.errors.EigsearchError, match="1"):
        list(eigsearch.flip_dataset(Net(3), graphs, progress=False))


def test_flip_dataset_refuses_pairs_for_several_graphs() -> None:
    with pytest.raises(InputError, match="True or False for several graphs"):
        eigsearch.flip_dataset(Net(3), GRAPHS, add=[[0, 1]])


def test_flip_dataset_refuses_options_of_searches() -> None:
    with pytest.raises(TypeError, match="no option `sparsity`"):
        eigsearch.flip_dataset(Net(3), GRAPHS, sparsity=0.7)


class Swapped(torch.nn.Module):
    """The network with the arguments in PyG's order."""

    def __init__(self) -> None:
        super().__init__()
        self.net = Net(3)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return self.net(x, edge_index, batch)


def test_counterfactual_search_in_the_explainer_gives_the_same_answers() -> None:
    explainer = Explainer(
        Swapped().eval(),
        eigsearch.CounterfactualSearch(add=True, answers=2),
        explanation_type="model",
        edge_mask_type="object",
        model_config={
            "mode": "multiclass_classification",
            "task_level": "graph",
            "return_type": "raw",
        },
    )
    batch = Batch.from_data_list(GRAPHS[:3])
    found = explainer(batch.x, batch.edge_index, batch=batch.batch)
    expected = [eigsearch.flip(Net(3), graph, add=True) for graph in GRAPHS[:3]]
    assert found.flipped.tolist() == [answer.flipped for answer in expected]
    masks = torch.cat([answer.edge_mask for answer in expected])
    assert torch.equal(found.edge_mask.bool(), masks)
    assert all(len(answer.answers()) <= 2 for answer in found.details)


@pytest.mark.parametrize("masks", [("object", "object"), ("common_attributes", None)])
def test_counterfactual_search_for_features_is_refused(
    masks: tuple[str, str | None], caplog: pytest.LogCaptureFixture
) -> None:
    """It took groups of features for edges that can be removed."""
    node_mask_type, edge_mask_type = masks
    with pytest.raises(ValueError, match="does not support"):
        Explainer(
            Swapped().eval(),
            eigsearch.CounterfactualSearch(),
            explanation_type="model",
            node_mask_type=node_mask_type,
            edge_mask_type=edge_mask_type,
            model_config={
                "mode": "multiclass_classification",
                "task_level": "graph",
                "return_type": "raw",
            },
        )
    assert "changes edges and no features" in caplog.text
