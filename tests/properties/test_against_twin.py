"""The engine against the slow twin: same scores, same curve, same edges, for every model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch_geometric.data import Data

import eigsearch
from tests.nets import CONVS, POOLS, attributed, house, make_net, predict
from tests.reference import oracle, twin


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


def compare(
    model: Any, data: Data, asked: twin.Asked, hops: int | None = None, **options: Any
) -> None:
    answer = twin.explain(predict(model), data, asked, hops=hops, **options)
    for engine in ("batched", "incremental"):
        ex = eigsearch.explain(
            model,
            data,
            target=asked.target,
            node=asked.node,
            task=asked.task,
            return_type=asked.return_type,
            engine=engine,
            **options,
        )
        assert_same(ex, answer)


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


OUTPUTS = {
    "raw": (3, "raw", twin.Asked(2)),
    "log_probs": (3, "log_probs", twin.Asked(2, return_type="log_probs")),
    "probs": (3, "probs", twin.Asked(2, return_type="probs")),
    "one logit, yes": (1, "raw", twin.Asked(1, "binary_classification")),
    "one logit, no": (1, "raw", twin.Asked(0, "binary_classification")),
    "one probability": (1, "sigmoid", twin.Asked(0, "binary_classification", "probs")),
    "regression": (1, "raw", twin.Asked(0, "regression")),
    "second output of a regression": (2, "raw", twin.Asked(1, "regression")),
}


@pytest.mark.parametrize("pool", ["mean", None], ids=["graph", "node"])
@pytest.mark.parametrize("name", OUTPUTS)
def test_every_kind_of_output(name: str, pool: str | None) -> None:
    outputs, end, asked = OUTPUTS[name]
    model = make_net("GIN", pool, outputs, end)
    data = without_unused(house(), model)
    if pool is None:
        compare(model, data, replace(asked, node=2), hops=2)
    else:
        compare(model, data, asked)


def test_return_types_agree_with_each_other() -> None:
    data = house()
    found = [eigsearch.explain(make_net(end=end), data) for end in ("raw", "log_probs", "probs")]
    assert [ex.config["return_type"] for ex in found] == ["raw", "log_probs", "probs"]
    for ex in found[1:]:
        torch.testing.assert_close(ex.edge_score, found[0].edge_score, atol=1e-8, rtol=1e-8)
        assert torch.equal(ex.edge_mask, found[0].edge_mask)


@pytest.mark.parametrize("sparsity", [0.0, 0.3, 0.5, 0.7, 0.9])
@pytest.mark.parametrize("min_size", [1, 2, 4])
def test_sweep_with_size_limits_equals_the_twin(sparsity: float, min_size: int) -> None:
    model = make_net("SAGE")
    data = without_unused(house(), model)
    compare(model, data, twin.Asked(0), sparsity=sparsity, min_size=min_size)


def one_way(data: Data) -> Data:
    """Return the graph with each edge in one direction only."""
    keep = data.edge_index[0] < data.edge_index[1]
    return twin.spanning(data, keep)


def oddities() -> Data:
    """Return a graph with self-loops, parallel edges and nodes without edges."""
    pairs = [(0, 1), (1, 2), (1, 2), (2, 2), (2, 3), (3, 0), (4, 4), (3, 4), (0, 1), (2, 2)]
    return attributed(pairs, 7)


SHAPES = {
    "undirected": house,
    "directed": lambda: one_way(house()),
    "self-loops, parallel edges, isolated nodes": oddities,
    "the same, directed": lambda: one_way(oddities()),
}


@pytest.mark.parametrize("groups", ["auto", "undirected", "directed"])
@pytest.mark.parametrize("conv", ["GCN weighted", "GINE", "RGCN", "GIN"])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_of_graph(shape: str, conv: str, groups: str) -> None:
    model = make_net(conv, "mean")
    data = without_unused(SHAPES[shape](), model)
    compare(model, data, twin.Asked(0), groups=groups)
    about_node = twin.Asked(0, node=3)
    compare(make_net(conv, None), data, about_node, groups=groups, hops=HOPS.get(conv, 2))


@pytest.mark.parametrize("pool", ["sum", None], ids=["graph", "node"])
def test_groups_of_the_user(pool: str | None) -> None:
    model = make_net("GIN", pool)
    data = without_unused(house(), model)
    ring, tail, fixed = 7, 3, -1
    names = [ring, ring, ring, ring, 5, 6, tail, fixed, tail]
    asked = twin.Asked(0, node=None if pool else 2)
    partition = torch.tensor(names * 2)
    ex = eigsearch.explain(model, data, target=0, node=asked.node, groups=partition)
    answer = twin.explain(
        predict(model), data, asked, groups=partition.tolist(), hops=None if pool else 2
    )
    assert_same(ex, answer)
    assert not ex.edge_mask[partition == -1].any()


@pytest.mark.parametrize("count", [0, 1, 2, 3])
@pytest.mark.parametrize("conv", ["GCN", "GIN", "GAT", "PNA"])
@pytest.mark.parametrize("groups", ["undirected", "directed"])
def test_graphs_with_hardly_an_edge(count: int, conv: str, groups: str) -> None:
    model = make_net(conv, "mean")
    data = without_unused(attributed([(0, 1), (2, 1), (1, 3)][:count], 5), model)
    compare(model, data, twin.Asked(1), groups=groups)


def test_a_graph_without_edges_has_an_empty_explanation_that_says_so() -> None:
    ex = eigsearch.explain(make_net(), attributed([], 4))
    assert ex.size == 0
    assert ex.edge_mask.shape == ex.edge_score.shape == (0,)
    assert len(ex.curve) == 0
    assert "empty" in ex.sentence()
    assert ex.subgraph().num_edges == 0


def test_a_single_node_has_an_empty_explanation() -> None:
    ex = eigsearch.explain(make_net("GCN", pool=None), attributed([(1, 2)], 3), node=0)
    assert ex.size == 0
    assert not ex.edge_mask.any()


def test_edges_that_are_never_removed_leave_nothing_to_explain() -> None:
    data = house()
    ex = eigsearch.explain(make_net(), data, groups=torch.full((data.num_edges,), -1))
    assert ex.size == ex.num_groups == 0


@pytest.mark.parametrize("conv", ["GCN", "GIN", "GAT"])
def test_single_precision_agrees_with_the_twin_in_double(conv: str) -> None:
    exact = make_net(conv)
    data = without_unused(house(), exact)
    answer = twin.explain(predict(exact), data, twin.Asked(0), sparsity=0.0)
    single = data.clone().apply(lambda t: t.float() if t.is_floating_point() else t)
    ex = eigsearch.explain(make_net(conv).float(), single, target=0, sparsity=0.0)
    torch.testing.assert_close(
        ex.edge_score, torch.tensor(answer.score, dtype=torch.float64), atol=1e-5, rtol=1e-4
    )
    assert ex.edge_mask.tolist() == answer.mask


def test_weights_are_the_denominator() -> None:
    """Twice the weight at the same drop is half the linear gradient."""

    class Counter(torch.nn.Module):
        def forward(self, x, edge_index, edge_weight, batch):
            count = torch.zeros(int(batch.max()) + 1, dtype=x.dtype)
            return count.index_add(0, batch[edge_index[0]], torch.ones_like(edge_weight))[:, None]

    data = house()
    ex = eigsearch.explain(Counter(), data, task="regression", target=0)
    weight = data.edge_weight
    torch.testing.assert_close(ex.edge_score, 1 / weight)


def test_the_sweep_never_beats_the_oracle_and_often_meets_it() -> None:
    met = 0
    for seed in range(3):
        model = make_net("GIN", "mean", seed=seed)
        data = without_unused(house(seed), model)
        ex = eigsearch.explain(model, data, sparsity=0.0)
        asked = twin.Asked(ex.target)
        best, _ = oracle.best_gain(predict(model), data, asked, 2, ex.num_groups - 1)
        assert ex.gain <= best + 1e-9
        met += ex.gain > best - 0.05
    assert met
