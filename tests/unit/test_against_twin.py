"""The engine against the slow twin: same scores, same curve, same edges, for every model."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch_geometric.data import Data

import eigsearch
from tests.nets import CONVS, POOLS, house, make_net, predict
from tests.reference import twin

PLAIN = ("x", "edge_index")


def without_unused(data: Data, model: Any) -> Data:
    """Drop edge attributes that the model does not read, such as weights of an unweighted graph."""
    unused = {"edge_attr", "edge_weight", "edge_type"} - {model.extra}
    return Data.from_dict({k: v for k, v in data.to_dict().items() if k not in unused})


def assert_same(ex: eigsearch.SubgraphExplanation, answer: twin.Answer) -> None:
    torch.testing.assert_close(
        ex.edge_score, torch.tensor(answer.score, dtype=torch.float64), atol=1e-5, rtol=1e-5
    )
    assert ex.curve.size.tolist() == answer.sizes
    assert ex.curve.fidelity_plus.tolist() == pytest.approx(answer.fidelity_plus, abs=1e-5)
    assert ex.curve.fidelity_minus.tolist() == pytest.approx(answer.fidelity_minus, abs=1e-5)
    assert ex.edge_mask.tolist() == answer.mask
    assert ex.value == pytest.approx(answer.value, abs=1e-5)
    assert ex.size == answer.size


def compare(model: Any, data: Data, asked: twin.Asked, **options: Any) -> None:
    hops = options.pop("hops", None)
    ex = eigsearch.explain(
        model,
        data,
        target=asked.target,
        node=asked.node,
        task=asked.task,
        return_type=asked.return_type,
        **options,
    )
    assert_same(ex, twin.explain(predict(model), data, asked, hops=hops, **options))


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("conv", CONVS)
def test_every_layer_with_every_pooling(conv: str, pool: str) -> None:
    model = make_net(conv, pool)
    data = without_unused(house(), model)
    for target in range(3):
        compare(model, data, twin.Asked(target), sparsity=0.0)


HOPS = {"GCN": 3, "GCN weighted": 3}  # a GCN also reads the degree of a neighbour's neighbour


@pytest.mark.parametrize("conv", CONVS)
def test_every_layer_for_nodes(conv: str) -> None:
    model = make_net(conv, pool=None)
    data = without_unused(house(), model)
    for node in range(9):
        compare(model, data, twin.Asked(1, node=node), hops=HOPS.get(conv, 2))
