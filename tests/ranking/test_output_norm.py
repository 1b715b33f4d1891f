"""Output norm: its definition, on both engines, and its names."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.explain import Explainer
from torch_geometric.nn import GCNConv, global_mean_pool

import eigsearch
from eigsearch import explainers
from eigsearch.errors import InputError
from tests.explainers.linear import bull


class Net(nn.Module):
    """Two GCN layers and three outputs, for graphs or nodes."""

    def __init__(self, task: str) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.task = task
        self.convs = nn.ModuleList([GCNConv(3, 8), GCNConv(8, 8)])
        self.head = nn.Linear(8, 3)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
        for conv in self.convs:
            x = conv(x, edge_index).relu()
        return self.head(global_mean_pool(x, batch) if self.task == "graph" else x)


def by_definition(model: Net, data: Data, row: int) -> Tensor:
    """Return ‖f(A) − f(A without the edge)‖ per directed edge removed, for each edge."""
    source, target = data.edge_index
    norms = []
    for u, v in data.edge_index.t().tolist():
        kept = ~(((source == u) & (target == v)) | ((source == v) & (target == u)))
        with torch.no_grad():
            change = (
                model(data.x, data.edge_index)[row] - model(data.x, data.edge_index[:, kept])[row]
            )
        norms.append(change.norm() / 2)
    return torch.stack(norms).double()


@pytest.mark.parametrize("engine", ["batched", "incremental"])
@pytest.mark.parametrize(("task", "node"), [("graph", None), ("node", 2)])
def test_output_norm_is_the_norm_of_the_change_of_all_outputs(task, node, engine):
    model, data = Net(task).eval(), bull()
    found = eigsearch.explain(model, data, node=node, ranker="output_norm", engine=engine)
    expected = by_definition(model, data, node or 0)
    assert torch.allclose(found.edge_score.double(), expected, atol=1e-6)
    assert found.config["ranker"] == "output_norm"


@pytest.mark.parametrize(("task", "node"), [("graph", None), ("node", 2)])
def test_output_norm_does_not_depend_on_the_explained_class(task, node):
    model, data = Net(task).eval(), bull()
    scores = [
        eigsearch.explain(model, data, node=node, target=c, ranker="output_norm").edge_score
        for c in range(3)
    ]
    assert all(torch.equal(scores[0], score) for score in scores)


def test_output_norm_by_name_as_an_explainer_and_in_pyg_are_the_same():
    model, data = Net("node").eval(), bull()
    named = eigsearch.explain(model, data, node=2, ranker="output_norm")
    method = explainers.get("output_norm")
    assert torch.equal(eigsearch.explain(model, data, node=2, ranker=method).score, named.score)
    assert torch.allclose(method.rank(model, data, 0, 2), named.edge_score.double())
    explainer = Explainer(
        model,
        eigsearch.EiGSearch(ranker="output_norm"),
        explanation_type="model",
        edge_mask_type="object",
        model_config={
            "mode": "multiclass_classification",
            "task_level": "node",
            "return_type": "raw",
        },
    )
    explained = explainer(data.x, data.edge_index, index=2)
    assert torch.allclose(explained.edge_score.double(), named.edge_score.double())


def test_linear_gradients_by_name_are_the_default():
    model, data = Net("graph").eval(), bull()
    named = eigsearch.explain(model, data, ranker="linear_gradients")
    assert torch.equal(named.score, eigsearch.explain(model, data).score)


def test_ranker_with_an_unknown_name_raises():
    with pytest.raises(InputError, match=r"output_norm, .*\(got 'gradient_norms'\)"):
        eigsearch.explain(Net("graph"), bull(), ranker="gradient_norms")
