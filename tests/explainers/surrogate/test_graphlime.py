"""GraphLIME: the optimum of its Lasso, and which features it finds."""

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.utils import erdos_renyi_graph

from eigsearch.errors import UnsupportedError
from eigsearch.explainers.surrogate.graphlime import GraphLIME, hsic_lasso

NODES, INFORMATIVE, NOISE = 120, 2, 8


class OwnFeatures(nn.Module):
    """Classifies a node by the first two of its features alone."""

    def forward(self, x, edge_index):
        first, second = 3 * x[:, :INFORMATIVE].t()
        return torch.stack([first, -first, second, -second], dim=1)


@pytest.fixture
def data() -> Data:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        x = torch.randn(NODES, INFORMATIVE + NOISE)
        return Data(x=x, edge_index=erdos_renyi_graph(NODES, 0.15))


def centred_kernel(values: np.ndarray, dimensions: int) -> np.ndarray:
    """Return H K H / ‖H K H‖, entry by entry from the formula."""
    n = len(values)
    kernel = np.array(
        [[np.exp(-((a - b) ** 2).sum() / (0.2 * dimensions)) for b in values] for a in values]
    )
    centre = np.eye(n) - 1 / n
    kernel = centre @ kernel @ centre
    return kernel / np.linalg.norm(kernel)


def test_hsic_lasso_meets_the_conditions_of_its_optimum():
    generator = np.random.default_rng(0)
    x = generator.normal(size=(20, 6))
    y = np.stack([np.tanh(x[:, 0] + x[:, 3]), np.sin(x[:, 3])], axis=1)
    rho = 0.1
    beta = hsic_lasso(x, y, rho)
    design = np.stack([centred_kernel(x[:, [k]], 6).ravel() for k in range(6)], axis=1)
    slope = design.T @ (centred_kernel(y, 2).ravel() - design @ beta)
    assert (beta >= 0).all()
    assert 2 <= (beta > 0).sum() < 6  # neither condition is empty
    assert slope[beta > 0] == pytest.approx(rho, abs=1e-6)
    assert (slope[beta == 0] <= rho + 1e-6).all()


def test_graphlime_gives_noise_columns_nothing(data):
    beta = GraphLIME().feature_scores(OwnFeatures(), data, 3)
    assert (beta[:INFORMATIVE] > 0.05).all()
    assert (beta[INFORMATIVE:] == 0).all()


def test_graphlime_node_scores_are_weighted_features_within_two_hops(data):
    data.edge_index = torch.tensor([[0, 1, 1, 2, 2, 3, 3, 4], [1, 0, 2, 1, 3, 2, 4, 3]])
    method = GraphLIME()
    beta = torch.from_numpy(method.feature_scores(OwnFeatures(), data, 0)).float()
    score = method.rank(OwnFeatures(), data, 0, 0)
    assert score[:3].tolist() == pytest.approx((data.x[:3].abs() @ beta).tolist())
    assert (score[3:] == 0).all()


def test_graphlime_does_not_depend_on_the_order_of_nodes(data):
    order = torch.randperm(NODES, generator=torch.Generator().manual_seed(1))
    place = order.argsort()
    moved = Data(x=data.x[order], edge_index=place[data.edge_index])
    method = GraphLIME()
    score = method.rank(OwnFeatures(), data, 0, 3)
    again = method.rank(OwnFeatures(), moved, 0, int(place[3]))
    assert torch.allclose(score[order], again, atol=1e-6)


def test_graphlime_of_equal_features_is_refused(data):
    data.x = torch.ones(NODES, 3)
    with pytest.raises(UnsupportedError, match="same for all"):
        GraphLIME().rank(OwnFeatures(), data, 0, 1)


def test_graphlime_for_a_graph_is_refused(data):
    with pytest.raises(UnsupportedError, match="node"):
        GraphLIME().rank(OwnFeatures(), data, 0, None)
