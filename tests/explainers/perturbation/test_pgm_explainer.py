"""PGM-Explainer: its chi-square evidence, its two rounds, its node variant and what it finds."""

from types import SimpleNamespace

import pytest
import torch
from scipy.stats import chi2_contingency
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import SimpleConv, global_add_pool

from eigsearch.errors import UnsupportedError
from eigsearch.explainers.perturbation.pgm_explainer import PGMExplainer, evidence
from tests.explainers.planted import CYCLE, graphs, mean_auc, network


class Reads(nn.Module):
    """A model that looks at the first feature of some nodes of a graph, and at nothing else."""

    def __init__(self, nodes: list[int], count: int) -> None:
        super().__init__()
        self.register_buffer("mask", torch.zeros(count).index_fill(0, torch.tensor(nodes), 1.0))

    def forward(self, x, edge_index, batch=None):
        seen = x[:, 0] * self.mask.repeat(x.size(0) // self.mask.numel())
        score = global_add_pool(seen[:, None], batch)
        return torch.cat([score, -score], dim=1)


class NextDoor(nn.Module):
    """A node's class is told by the sum of the first features next to it."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = SimpleConv(aggr="sum")

    def forward(self, x, edge_index):
        score = self.conv(x[:, :1], edge_index)
        return torch.cat([score, -score], dim=1)


def ring(count: int) -> Data:
    nodes = torch.arange(count)
    edge_index = torch.stack([nodes, nodes.roll(1)])
    x = torch.linspace(1.0, 3.0, count)[:, None]
    return Data(x=x, edge_index=torch.cat([edge_index, edge_index.flip(0)], dim=1))


def test_evidence_is_the_p_value_of_scipy_on_the_contingency_table():
    generator = torch.Generator().manual_seed(0)
    outcome = torch.randint(0, 2, (300,), generator=generator)
    noisy = torch.where(torch.rand(300, generator=generator) < 0.2, 1 - outcome, outcome)
    unrelated = torch.randint(0, 4, (300,), generator=generator)
    constant = torch.ones_like(outcome)
    found = evidence(torch.stack([noisy, unrelated, constant], dim=1), outcome)
    for column, score in zip((noisy, unrelated), found, strict=False):
        table = [[int(((column == a) & (outcome == b)).sum()) for b in (0, 1)] for a in range(4)]
        table = [row for row in table if sum(row)]
        p = chi2_contingency(table, correction=False).pvalue
        assert float(score) == pytest.approx(float(-torch.tensor(p).log()), rel=1e-4)
    assert found[2] == 0
    assert found[0] > 20 > found[1]


def test_the_nodes_that_a_graph_model_reads_come_first():
    data = ring(12)
    data.x[[3, 7]] = 6.0  # their mean is lower, so perturbing them costs probability
    score = PGMExplainer(samples=400).rank(Reads([3, 7], 12), data, 0, None)
    assert set(score.topk(2).indices.tolist()) == {3, 7}


def test_candidates_of_the_second_round_stand_above_the_others():
    data = ring(12)
    data.x[3] = 6.0
    score = PGMExplainer(samples=400, top=1).rank(Reads([3], 12), data, 0, None)
    ordered = score.sort(descending=True).values
    assert score[3] == ordered[0]
    assert ordered[3] > 4 * ordered[4]  # candidates start from the best evidence of round one


def test_the_neighbours_that_decide_about_a_node_come_first():
    leaves = torch.arange(1, 7)
    spokes = torch.stack([leaves, torch.zeros_like(leaves)])
    x = torch.tensor([0.0, 0.3, 0.001, 0.3, 0.001, 0.3, 0.001])[:, None]
    star = Data(x=x, edge_index=torch.cat([spokes, spokes.flip(0)], dim=1))
    score = PGMExplainer(samples=3000).rank(NextDoor(), star, 0, 0)
    assert set(score[1:].topk(3).indices.tolist()) == {0, 2, 4}
    assert score[[1, 3, 5]].min() > -torch.tensor(0.05).log() > score[[2, 4, 6]].median()


def test_pgm_explainer_planted_cycle_is_found():
    assert mean_auc(PGMExplainer(), graphs(CYCLE, 4)) > 0.75


def test_features_that_cannot_be_averaged_are_refused():
    data = graphs(CYCLE, 1)[0].clone()
    data.x = data.x.long()
    with pytest.raises(UnsupportedError, match="average"):
        PGMExplainer().rank(network(), data, 0, None)


def test_evidence_stays_finite_where_nothing_is_left_to_chance():
    outcome = torch.arange(4).repeat(2_000)
    found = evidence(torch.stack([outcome, outcome.flip(0), outcome // 2], dim=1), outcome)
    assert torch.isfinite(found).all()
    assert found[0] == found[1] > found[2]


@pytest.mark.parametrize("perturbation", ["mean", "zero", "scale", "random"])
def test_perturbations_change_perturbed_nodes_alone(perturbation):
    x = torch.tensor([[1.0, 4.0], [2.0, 6.0], [3.0, 8.0]])
    data = Data(x=x, edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]))
    prediction = SimpleNamespace(data=data)
    method = PGMExplainer(perturbation=perturbation)
    perturb = method._perturb(prediction, "mean", torch.Generator().manual_seed(0))
    found = perturb(torch.tensor([[True, False, False]]))[0]
    assert torch.equal(found[1:], x[1:])
    assert not torch.equal(found[0], x[0])
    if perturbation in ("mean", "zero"):
        assert torch.equal(found[0], x.mean(dim=0) if perturbation == "mean" else torch.zeros(2))
    assert bool((found[0] >= 0).all())
    assert bool((found[0] <= 2 * x.amax(dim=0)).all())
