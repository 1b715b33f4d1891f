"""Linear gradients of instances whose φ without each group is known, or not."""

from __future__ import annotations

import pytest
import torch
from torch_geometric.data import Data

from eigsearch.inference.prediction import PredictedInstance, with_prediction
from eigsearch.inference.target import Target
from eigsearch.ranking.linear_gradients import known_rankings
from tests.instances import prepare_graph


def instance(*phi_without: float) -> PredictedInstance:
    """Return a path of three edges with φ = 3, and φ without each of them where it is given."""
    ends = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
    prepared = prepare_graph(Data(x=torch.ones(4, 1), edge_index=ends))
    return with_prediction(
        prepared,
        target=Target("multiclass_classification", "raw", 0),
        prediction=0,
        phi_full=torch.tensor(3.0).double(),
        phi_without=torch.tensor(phi_without).double() if phi_without else None,
    )


def test_known_rankings_all_known_ranks_each() -> None:
    first, second = known_rankings([instance(1, 2, 0), instance(3, 1, 2)])
    assert first is not None
    assert second is not None
    assert first.score.tolist() == pytest.approx([1, 0.5, 1.5])
    assert first.order.tolist() == [2, 0, 1]
    assert second.order.tolist() == [1, 2, 0]


def test_known_rankings_one_unknown_ranks_none_of_them() -> None:
    assert known_rankings([instance(1, 2, 0), instance()]) == [None, None]
    assert known_rankings([instance(), instance()]) == [None, None]
