"""Options that say how to call and read a model reach every ranker."""

import pytest
import torch

import eigsearch
from eigsearch import explainers
from tests.explainers.linear import LinearNet, bull


class Unusual(torch.nn.Module):
    """A network whose forward takes a pair, so that it needs `forward=`."""

    def __init__(self, outputs: int = 2) -> None:
        super().__init__()
        self.net = LinearNet()
        self.outputs = outputs

    def forward(self, pair, batch):
        return self.net(*pair, batch)[:, : self.outputs]


def call(model, batch):
    return model((batch.x, batch.edge_index), batch.batch)


@pytest.mark.parametrize("name", ["sa", "grad", "gradcam", "ig", "occlusion", "gnnexplainer"])
def test_configured_model_unusual_signature_is_explained_like_the_usual_one(name):
    data, ranker = bull(), explainers.get(name)
    usual = eigsearch.explain(LinearNet(), data, ranker=ranker)
    unusual = eigsearch.explain(Unusual(), data, ranker=ranker, forward=call)
    assert torch.allclose(usual.score, unusual.score, atol=1e-6)


@pytest.mark.parametrize("name", ["grad", "ig"])
def test_configured_model_regression_is_read_as_one(name):
    data, ranker = bull(), explainers.get(name)
    value = eigsearch.explain(
        Unusual(outputs=1), data, ranker=ranker, forward=call, task="regression"
    )
    logit = eigsearch.explain(LinearNet(), data, target=0, ranker=ranker)
    assert torch.allclose(value.score, logit.score, atol=1e-6)


def test_training_reads_a_model_as_it_is_told():
    def scores(task: str) -> torch.Tensor:
        method = explainers.get("pgexplainer", epochs=2)
        method.fit(Unusual(outputs=1), [bull()], forward=call, task=task)
        return method.rank(LinearNet(), bull(), 0, None)

    assert not torch.equal(scores("regression"), scores("binary_classification"))
