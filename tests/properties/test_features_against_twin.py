"""Feature groups against the slow twin: plain calls of the model with replaced features."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data

import eigsearch
from tests.nets import house, make_net, predict
from tests.properties.test_against_twin import without_unused
from tests.reference import features as slow
from tests.reference import twin


def baselines(data: Data, baseline: str | Tensor) -> dict[str, Tensor]:
    """Return the replacement of each column, by attribute."""
    if isinstance(baseline, Tensor):
        return {"x": baseline}
    named = [name for name in ("x", "edge_attr") if name in data]
    if baseline == "mean":
        return {name: data[name].mean(0) for name in named}
    return {name: torch.zeros(data[name].size(1), dtype=torch.float64) for name in named}


def compare(
    data: Data,
    model: Any,
    groups: list[list[slow.Entry]],
    asked: twin.Asked,
    hops: int | None = None,
    edges: str = "auto",
    baseline: str | Tensor = "zero",
    **options: Any,
) -> eigsearch.SubgraphExplanation:
    numbers = twin.group_edges(data, "auto") if edges == "auto" else [-1] * data.num_edges
    if hops is not None and edges == "auto":
        numbers = twin.only_reaching(data, numbers, asked.anchors, hops)
    answer = slow.explain(predict(model), data, asked, groups, baselines(data, baseline), numbers)
    ex = eigsearch.explain(
        model, data, target=asked.target, node=asked.node, task=asked.task,
        groups=edges, baseline=baseline, **options,
    )  # fmt: skip
    assert ex.edge_score.tolist() == pytest.approx(answer.edge_score, abs=1e-6)
    assert ex.score[ex.num_edge_groups :].tolist() == pytest.approx(answer.feature_score, abs=1e-6)
    assert ex.curve.size.tolist() == answer.sizes
    assert ex.curve.fidelity_plus.tolist() == pytest.approx(answer.fidelity_plus, abs=1e-6)
    assert ex.curve.fidelity_minus.tolist() == pytest.approx(answer.fidelity_minus, abs=1e-6)
    assert ex.edge_mask.tolist() == answer.edge_mask
    assert ex.keep[ex.num_edge_groups :].tolist() == answer.feature_mask
    return ex


@pytest.mark.parametrize("edges", ["auto", "none"])
@pytest.mark.parametrize("baseline", ["zero", "mean", torch.linspace(-1, 1, 5).double()])
@pytest.mark.parametrize("conv", ["GIN", "GCN"])
def test_columns_of_a_graph(conv: str, baseline: str | Tensor, edges: str) -> None:
    for seed in range(3):
        model = make_net(conv, "mean", seed=seed)
        data = without_unused(house(seed), model)
        compare(
            data, model, slow.columns(data), twin.Asked(seed % 3),
            edges=edges, baseline=baseline, features="columns",
        )  # fmt: skip


@pytest.mark.parametrize("edges", ["auto", "none"])
@pytest.mark.parametrize("pool", ["sum", "mean"])
def test_nodes_of_a_graph(pool: str, edges: str) -> None:
    for seed in range(3):
        model = make_net("GIN", pool, seed=seed)
        data = without_unused(house(seed), model)
        groups = slow.nodes(data, range(9))
        compare(data, model, groups, twin.Asked(1), edges=edges, features="nodes")


def test_entries_of_a_graph() -> None:
    model = make_net("GIN", "mean")
    data = without_unused(house(), model)
    data.x[2] = 0.0  # at the baseline already, so it is no group
    groups = [[("x", n, c)] for n in range(9) for c in range(5) if n != 2]
    ex = compare(data, model, groups, twin.Asked(1), features="entries")
    assert ex.feature_score.shape == (9, 5)
    assert ex.feature_score[2].eq(0).all()


def test_columns_of_edges_beside_columns_of_nodes() -> None:
    model = make_net("GINE", "mean")
    data = without_unused(house(), model)
    groups = slow.columns(data) + slow.columns(data, "edge_attr")
    ex = compare(
        data, model, groups, twin.Asked(0), baseline="mean", features=("columns", "edge_columns")
    )
    assert ex.edge_feature_score.tolist() == ex.score[-3:].tolist()
    assert ex.edge_feature_mask.tolist() == ex.keep[-3:].tolist()


def test_a_partition_of_columns_and_one_of_entries() -> None:
    model = make_net("GIN", "mean")
    data = without_unused(house(), model)
    parts = slow.columns(data)
    groups = [parts[1] + parts[4], parts[0]]
    compare(data, model, groups, twin.Asked(2), features=torch.tensor([5, 2, -1, -1, 2]))
    own = torch.full((9, 5), -1)
    own[0, :2], own[3, 4] = 0, 1
    few = [[("x", 0, 0), ("x", 0, 1)], [("x", 3, 4)]]
    compare(data, model, few, twin.Asked(2), features=own)


@pytest.mark.parametrize("task", ["multiclass_classification", "regression"])
@pytest.mark.parametrize("edges", ["auto", "none"])
def test_columns_of_a_node(edges: str, task: str) -> None:
    outputs = 1 if task == "regression" else 3
    model = make_net("GIN", None, outputs=outputs)
    data = without_unused(house(), model)
    for node in (0, 5, 8):
        asked = twin.Asked(outputs // 2, task, node=node)
        compare(
            data, model, slow.columns(data), asked, hops=2, edges=edges, features="columns",
            baseline="mean",
        )  # fmt: skip


def test_features_of_nodes_around_a_node() -> None:
    model = make_net("GIN", None)
    data = without_unused(house(), model)
    reaching = twin.only_reaching(data, twin.group_edges(data, "auto"), (5,), 2)
    ends = data.edge_index[:, [g >= 0 for g in reaching]].unique().tolist()
    ex = compare(
        data, model, slow.nodes(data, ends), twin.Asked(1, node=5), hops=2, features="nodes"
    )
    assert ex.feature_score.shape == (9,)
    assert set(ex.feature_score.nonzero().flatten().tolist()) <= set(ends)


class Pairs(torch.nn.Module):
    """Scores a pair of nodes by the product of what a network says about them."""

    extra = None

    def __init__(self) -> None:
        super().__init__()
        self.net = make_net("GIN", None)

    def forward(self, x: Tensor, edge_index: Tensor, edge_label_index: Tensor) -> Tensor:
        row = self.net(x, edge_index)
        return row[edge_label_index[0]] * row[edge_label_index[1]]


@pytest.mark.parametrize("features", ["columns", "nodes"])
def test_features_of_a_link(features: str) -> None:
    model = Pairs()
    data = without_unused(house(), model)
    asked = twin.Asked(1, link=(2, 6))
    numbers = twin.only_reaching(data, twin.group_edges(data, "auto"), asked.anchors, 2)
    near = data.edge_index[:, [g >= 0 for g in numbers]].unique().tolist()
    groups = slow.columns(data) if features == "columns" else slow.nodes(data, near)
    answer = slow.explain(
        lambda graph: model(graph.x, graph.edge_index, graph.edge_label_index),
        data, asked, groups, baselines(data, "zero"), numbers,
    )  # fmt: skip
    ex = eigsearch.explain(
        model, data, link=(2, 6), target=1, task="multiclass", return_type="raw", features=features
    )
    found = ex.score[ex.num_edge_groups :].tolist()
    assert found == pytest.approx(answer.feature_score, abs=1e-6)
    assert ex.curve.fidelity_plus.tolist() == pytest.approx(answer.fidelity_plus, abs=1e-6)
    assert ex.curve.fidelity_minus.tolist() == pytest.approx(answer.fidelity_minus, abs=1e-6)
    assert ex.edge_mask.tolist() == answer.edge_mask


@pytest.mark.parametrize("search", ["refine", "anchored", "exhaustive", "resweep"])
def test_searches_report_the_gain_of_what_they_chose(search: str) -> None:
    model = make_net("GIN", "mean")
    data = without_unused(house(), model)
    ex = eigsearch.explain(model, data, features="columns", search=search)
    sweep = eigsearch.explain(model, data, features="columns")
    assert ex.gain >= sweep.gain - 1e-3
    call, asked = predict(model), twin.Asked(ex.target)
    alone = twin.probability(twin.phi(call, ex.subgraph(), asked), asked.task)
    assert alone == pytest.approx(float(ex.found.kept), abs=1e-6)
