"""EiG-Search inside PyG's `Explainer`: every configuration, and what PyG does with results."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data
from torch_geometric.explain import Explainer, Explanation, fidelity, unfaithfulness
from torch_geometric.nn import GCNConv, global_add_pool

import eigsearch
from eigsearch.errors import InputError, UnsupportedError
from tests.nets import FEATURES, WIDTH, attributed, house, make_net, vivid


def plain(seed: int = 0) -> Data:
    data = house(seed)
    return Data(x=data.x, edge_index=data.edge_index)


def triangle(seed: int = 5) -> Data:
    data = attributed([(0, 1), (1, 2), (2, 0), (2, 3)], 4, seed)
    return Data(x=data.x, edge_index=data.edge_index)


def make_explainer(
    model: nn.Module,
    mode: str = "multiclass_classification",
    level: str = "graph",
    returns: str = "raw",
    kind: str = "model",
    threshold: Any = None,
    **options: Any,
) -> Explainer:
    return Explainer(
        model,
        algorithm=eigsearch.EiGSearch(**options),
        explanation_type=kind,
        edge_mask_type="object",
        model_config={"mode": mode, "task_level": level, "return_type": returns},
        threshold_config=threshold,
    )


def assert_same(explanation: Explanation, ex: eigsearch.SubgraphExplanation) -> None:
    assert explanation.edge_mask.is_floating_point()
    assert torch.equal(explanation.edge_mask.bool(), ex.edge_mask)
    torch.testing.assert_close(explanation.edge_score, ex.edge_score)
    assert explanation.size == ex.size
    assert explanation.gain == pytest.approx(ex.gain)
    assert explanation.fidelity_plus == pytest.approx(ex.fidelity_plus)
    assert explanation.fidelity_minus == pytest.approx(ex.fidelity_minus)
    assert torch.equal(explanation.curve.size, ex.curve.size)


CONFIGS = [
    ("multiclass_classification", "raw", 3, "raw"),
    ("multiclass_classification", "log_probs", 3, "log_probs"),
    ("multiclass_classification", "probs", 3, "probs"),
    ("binary_classification", "raw", 1, "raw"),
    ("binary_classification", "probs", 1, "sigmoid"),
    ("regression", "raw", 1, "raw"),
]


@pytest.mark.parametrize("kind", ["model", "phenomenon"])
@pytest.mark.parametrize("level", ["graph", "node"])
@pytest.mark.parametrize(("mode", "returns", "outputs", "end"), CONFIGS)
def test_every_configuration_agrees_with_explain(
    mode: str, returns: str, outputs: int, end: str, level: str, kind: str
) -> None:
    model = make_net("GCN", "mean" if level == "graph" else None, outputs, end)
    data = plain()
    index = 2 if level == "node" else None
    rows = data.num_nodes if level == "node" else 1
    label = None
    if kind == "phenomenon":
        label = torch.zeros(rows, dtype=torch.long)
        if mode == "regression":
            label = torch.zeros(rows, 1, dtype=torch.float64)
    explainer = make_explainer(model, mode, level, returns, kind)
    explanation = explainer(data.x, data.edge_index, target=label, index=index)
    chosen = 0 if kind == "phenomenon" else None
    ex = eigsearch.explain(model, data, node=index, target=chosen, task=mode, return_type=returns)
    assert_same(explanation, ex)
    assert explanation.validate()


@pytest.mark.parametrize("level", ["graph", "node"])
@pytest.mark.parametrize("mode", ["binary_classification", "regression"])
def test_models_with_several_outputs_are_explained_by_column(mode: str, level: str) -> None:
    model, data = make_net("GCN", "mean" if level == "graph" else None, 4), plain()
    index = 2 if level == "node" else None
    with pytest.raises(InputError, match=r"EiGSearch\(forward=lambda model, batch: "):
        make_explainer(model, mode, level)(data.x, data.edge_index, index=index)

    def column(model: nn.Module, batch: Batch) -> Tensor:
        return model(batch.x, batch.edge_index, batch=batch.batch)[:, [3]]

    found = make_explainer(model, mode, level, forward=column)(data.x, data.edge_index, index=index)
    ex = eigsearch.explain(model, data, node=index, task=mode, forward=column)
    assert_same(found, ex)
    (detail,) = found.details
    assert detail.target == ex.target


def test_a_label_for_each_of_several_outputs_is_refused() -> None:
    model, data = make_net(outputs=2), plain()
    explainer = make_explainer(
        model,
        "binary_classification",
        kind="phenomenon",
        forward=lambda model, batch: model(batch.x, batch.edge_index, batch=batch.batch)[:, [0]],
    )
    with pytest.raises(InputError, match="one class for each of 1 outputs"):
        explainer(data.x, data.edge_index, target=torch.tensor([[0, 1]]))
    found = explainer(data.x, data.edge_index, target=torch.tensor([1]))
    assert found.details[0].target == 1


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_batch_of_graphs_is_explained_in_one_call(shuffled: bool) -> None:
    model = make_net("GIN", "mean")
    graphs = [plain(), triangle(), attributed([], 2), plain(3)]
    batch = Batch.from_data_list([Data(x=g.x, edge_index=g.edge_index) for g in graphs])
    nodes = torch.arange(batch.num_nodes)
    if shuffled:  # PyG's poolings do not need the nodes of a graph to be neighbours
        nodes = torch.randperm(batch.num_nodes, generator=torch.Generator().manual_seed(0))
    rank = nodes.argsort()
    explanation = make_explainer(model)(
        batch.x[nodes], rank[batch.edge_index], batch=batch.batch[nodes]
    )
    alone = list(eigsearch.explain_dataset(model, graphs))
    assert explanation.size.tolist() == [ex.size for ex in alone]
    assert explanation.gain.tolist() == pytest.approx([ex.gain for ex in alone], nan_ok=True)
    masks = torch.cat([ex.edge_mask for ex in alone])
    assert torch.equal(explanation.edge_mask.bool(), masks)
    torch.testing.assert_close(explanation.edge_score, torch.cat([ex.edge_score for ex in alone]))
    assert [len(curve) for curve in explanation.curve] == [len(ex.curve) for ex in alone]


def test_index_picks_graphs_of_a_batch() -> None:
    model = make_net("GIN", "mean")
    batch = Batch.from_data_list([plain(), triangle(), plain(3)])
    explainer = make_explainer(model)
    one = explainer(batch.x, batch.edge_index, batch=batch.batch, index=1)
    here = batch.batch[batch.edge_index[0]] == 1
    assert not one.edge_mask[~here].any()
    assert torch.equal(one.edge_mask[here].bool(), eigsearch.explain(model, triangle()).edge_mask)
    two = explainer(batch.x, batch.edge_index, batch=batch.batch, index=torch.tensor([2, 1]))
    assert [ex.data.num_nodes for ex in two.details] == [9, 4]


@pytest.mark.parametrize(
    "index",
    [torch.tensor([5, 0, 3]), torch.arange(9).lt(4), None],
    ids=["nodes", "mask", "all"],
)
def test_several_nodes_unite_their_subgraphs(index: Tensor | None) -> None:
    model, data = make_net("GIN", None), plain()
    explanation = make_explainer(model, level="node")(data.x, data.edge_index, index=index)
    nodes = torch.arange(9) if index is None else torch.arange(9)[index]
    single = list(eigsearch.explain_dataset(model, data, node=nodes))
    union = torch.stack([ex.edge_mask for ex in single]).any(dim=0)
    assert torch.equal(explanation.edge_mask.bool(), union)
    reached = torch.stack(
        [torch.zeros(18, dtype=torch.bool).index_fill(0, ex.edges, True) for ex in single]
    )
    scores = torch.stack([ex.edge_score for ex in single]).masked_fill(~reached, -torch.inf)
    best = scores.max(dim=0).values
    torch.testing.assert_close(explanation.edge_score, best.masked_fill(best == -torch.inf, 0))
    assert [ex.node for ex in explanation.details] == nodes.tolist()


def test_nodes_of_a_batch_are_explained_in_their_own_graph() -> None:
    model = make_net("GCN", None)
    batch = Batch.from_data_list([plain(), triangle()])
    explanation = make_explainer(model, level="node")(
        batch.x, batch.edge_index, batch=batch.batch, index=torch.tensor([10, 2])
    )
    first = eigsearch.explain(model, triangle(), node=1)
    second = eigsearch.explain(model, plain(), node=2)
    assert torch.equal(explanation.edge_mask[18:].bool(), first.edge_mask)
    assert torch.equal(explanation.edge_mask[:18].bool(), second.edge_mask)


class Wide(nn.Module):
    """Takes arguments of every level, a constant, and names of its own for what PyG passes."""

    def __init__(self) -> None:
        super().__init__()
        self.kind = nn.Embedding(4, FEATURES)
        self.conv, self.head = GCNConv(FEATURES, WIDTH), nn.Linear(WIDTH, 3)

    def forward(
        self,
        features: Tensor,
        edges: Tensor,
        batch: Tensor,
        z: Tensor,
        edge_weight: Tensor,
        u: Tensor,
        scale: float = 1.0,
        table: Tensor | None = None,
    ) -> Tensor:
        x = self.conv(features + self.kind(z), edges, edge_weight).tanh()
        out = self.head(global_add_pool(x, batch)) * u * scale
        return out if table is None else out + table.sum()


def test_arguments_of_every_level_are_passed_through_and_sliced() -> None:
    torch.manual_seed(0)
    model = vivid(Wide())
    full = [house(), house(1)]
    graphs = [
        Data(
            x=d.x,
            edge_index=d.edge_index,
            edge_weight=d.edge_weight,
            z=torch.arange(9) % 4,
            u=torch.full((1, 3), 0.5 + i, dtype=torch.float64),
        )
        for i, d in enumerate(full)
    ]
    batch = Batch.from_data_list(graphs)
    table = torch.ones(5, 2, dtype=torch.float64)
    explanation = make_explainer(model)(
        batch.x,
        batch.edge_index,
        batch=batch.batch,
        z=batch.z,
        edge_weight=batch.edge_weight,
        u=batch.u,
        scale=0.7,
        table=table,
    )

    def call(model: nn.Module, b: Batch) -> Tensor:
        return model(b.x, b.edge_index, b.batch, b.z, b.edge_weight, b.u, 0.7, table)

    alone = list(eigsearch.explain_dataset(model, graphs, forward=call))
    torch.testing.assert_close(explanation.edge_score, torch.cat([ex.edge_score for ex in alone]))
    assert torch.equal(explanation.edge_mask.bool(), torch.cat([ex.edge_mask for ex in alone]))
    assert torch.equal(explanation.table, table)


class Alone(nn.Module):
    """A graph model without `batch`, with names of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = GCNConv(FEATURES, 3)

    def forward(self, features: Tensor, edges: Tensor, **unused: Any) -> Tensor:
        return self.conv(features, edges).tanh().sum(dim=0, keepdim=True)


def test_a_model_without_batch_and_with_other_names() -> None:
    torch.manual_seed(0)
    model, data = vivid(Alone()), plain()
    explanation = make_explainer(model)(data.x, data.edge_index)
    ex = eigsearch.explain(lambda x, edge_index: model(x, edge_index), data)
    assert_same(explanation, ex)


def test_options_reach_the_search() -> None:
    model, data = make_net(), plain()
    explanation = make_explainer(model, sparsity=0.0, min_size=3)(data.x, data.edge_index)
    assert explanation.curve.size.tolist() == [3, 4, 5, 6, 7, 8]
    fixed = make_explainer(model, search=None, size=4)(data.x, data.edge_index)
    assert fixed.size == 4


def test_groups_of_the_user_follow_the_graphs_of_a_batch() -> None:
    model = make_net("GIN", "mean")
    graphs = [plain(), triangle()]
    batch = Batch.from_data_list(graphs)
    partition = [torch.tensor(names * 2) for names in ([0, 0, 0, 0, 1, 2, 3, 4, -1], [0, 0, 1, 2])]
    explanation = make_explainer(model, groups=torch.cat(partition))(
        batch.x, batch.edge_index, batch=batch.batch
    )
    alone = [eigsearch.explain(model, g, groups=p) for g, p in zip(graphs, partition, strict=True)]
    assert torch.equal(explanation.edge_mask.bool(), torch.cat([ex.edge_mask for ex in alone]))


# What PyG does with explanations ----------------------------------------------------------------


@pytest.mark.parametrize("kind", ["model", "phenomenon"])
@pytest.mark.parametrize("level", ["graph", "node"])
def test_the_metrics_of_pyg_accept_it(level: str, kind: str) -> None:
    model = make_net("GCN", "mean" if level == "graph" else None)
    data = plain()
    explainer = make_explainer(model, level=level, kind=kind)
    label = torch.ones(1 if level == "graph" else 9, dtype=torch.long)
    explanation = explainer(
        data.x,
        data.edge_index,
        target=label if kind == "phenomenon" else None,
        index=None if level == "graph" else 2,
    )
    plus, minus = fidelity(explainer, explanation)
    assert plus in (0.0, 1.0)
    assert minus in (0.0, 1.0)
    assert 0 <= unfaithfulness(explainer, explanation) <= 1


def test_the_subgraph_of_pyg_has_the_chosen_edges() -> None:
    data = plain()
    explanation = make_explainer(make_net())(data.x, data.edge_index)
    chosen = explanation.edge_mask.bool()
    subgraph = explanation.get_explanation_subgraph()
    assert torch.equal(subgraph.edge_index, data.edge_index[:, chosen])
    assert torch.equal(subgraph.edge_score, explanation.edge_score[chosen])
    assert subgraph.size == explanation.size
    assert subgraph.curve is explanation.curve
    rest = explanation.get_complement_subgraph()
    assert torch.equal(rest.edge_index, data.edge_index[:, ~chosen])


def test_numbers_are_not_cut_with_the_edges() -> None:
    """Two graphs and two directed edges: by length alone, a size would belong to an edge."""
    model = make_net("GIN", "mean")
    batch = Batch.from_data_list([attributed([(0, 1)], 2), attributed([], 3)])
    explanation = make_explainer(model)(batch.x, batch.edge_index, batch=batch.batch)
    assert explanation.num_edges == 2
    empty = explanation.get_complement_subgraph()
    assert empty.num_edges == 0
    assert empty.size.tolist() == [1, 0]
    assert len(empty.details) == len(empty.target) == 2


def test_explanations_batch_and_come_apart() -> None:
    explainer = make_explainer(make_net())
    graphs = [plain(), triangle()]
    single = [explainer(data.x, data.edge_index) for data in graphs]
    batch = Batch.from_data_list(single)
    assert torch.equal(batch.edge_mask, torch.cat([e.edge_mask for e in single]))
    assert batch.size.tolist() == [e.size for e in single]
    assert batch.gain.tolist() == pytest.approx([e.gain for e in single])
    assert torch.equal(batch.get_example(1).edge_mask, single[1].edge_mask)
    assert batch.get_example(1).curve is single[1].curve


@pytest.mark.parametrize("level", ["graph", "node"])
def test_algorithm_explanation_can_be_drawn_by_pyg(level: str, tmp_path: Path) -> None:
    data = plain()
    model = make_net(pool="sum" if level == "graph" else None)
    index = None if level == "graph" else 2
    explanation = make_explainer(model, level=level)(data.x, data.edge_index, index=index)
    path = tmp_path / "explanation.png"
    explanation.visualize_graph(str(path), backend="networkx")
    assert path.stat().st_size > 1000


@pytest.mark.parametrize("count", [2, 7])
def test_thresholds_of_pyg_apply(count: int) -> None:
    data = plain()
    whole = make_explainer(make_net())(data.x, data.edge_index)
    explainer = make_explainer(make_net(), threshold={"threshold_type": "topk", "value": count})
    explanation = explainer(data.x, data.edge_index)
    assert int((explanation.edge_mask > 0).sum()) == count
    chosen = whole.edge_mask > 0
    assert int((explanation.edge_mask[chosen] > 0).sum()) == min(count, int(chosen.sum()))


def test_explanations_copy_and_pickle(tmp_path: Path) -> None:
    data = plain()
    explanation = make_explainer(make_net())(data.x, data.edge_index)
    torch.save(explanation, tmp_path / "explanation.pt")
    loaded = torch.load(tmp_path / "explanation.pt", weights_only=False)
    for other in (loaded, explanation.clone(), explanation.to("cpu")):
        assert other.size == explanation.size
        assert torch.equal(other.edge_mask, explanation.edge_mask)
        assert torch.equal(other.curve.gain, explanation.curve.gain)
    assert "size" in repr(explanation)


def test_a_graph_that_has_masks_goes_to_pyg_with_those_of_its_explanation() -> None:
    """As those of PyG's `ExplainerDataset`, which have the ground truth under these names."""
    data = house()
    data.edge_mask, data.node_mask = torch.ones(data.num_edges), torch.zeros(9)
    data.target = torch.tensor([7])
    ex = eigsearch.explain(make_net(), data)
    there = ex.to_pyg()
    assert torch.equal(there.edge_mask.bool(), ex.edge_mask)
    assert there.target == ex.target
    assert there.available_explanations == ["edge_mask"]
    assert there.get_explanation_subgraph().num_edges == int(ex.edge_mask.sum())


@pytest.mark.parametrize("node", [None, 2])
def test_explanations_go_to_pyg_and_back(node: int | None) -> None:
    data = house()
    ex = eigsearch.explain(make_net(pool=None if node else "sum"), data, node=node)
    there = ex.to_pyg()
    assert there.validate()
    assert_same(there, ex)
    assert torch.equal(there.edge_attr, data.edge_attr)
    assert there.get("index") is None if node is None else there.index.tolist() == [node]
    back = eigsearch.SubgraphExplanation.from_pyg(there)
    assert back.to_dict() == ex.to_dict()


def test_only_explanations_of_one_prediction_come_back() -> None:
    batch = Batch.from_data_list([plain(), triangle()])
    several = make_explainer(make_net())(batch.x, batch.edge_index, batch=batch.batch)
    with pytest.raises(InputError, match=r"one prediction \(got 2\)"):
        eigsearch.SubgraphExplanation.from_pyg(several)
    with pytest.raises(InputError, match=r"one prediction \(got none\)"):
        eigsearch.SubgraphExplanation.from_pyg(Explanation(edge_mask=torch.ones(3)))


# What is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"node_mask_type": "object", "features": "columns"}, "leave one of them out"),
    ],
)
def test_configurations_are_refused_with_the_reason(
    change: dict[str, Any], reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    config = {
        "mode": "multiclass_classification",
        "task_level": change.get("task_level", "graph"),
        "return_type": "raw",
    }
    with caplog.at_level(logging.ERROR), pytest.raises(ValueError, match="does not support"):
        Explainer(
            make_net(),
            algorithm=eigsearch.EiGSearch(features=change.get("features")),
            explanation_type="model",
            node_mask_type=change.get("node_mask_type"),
            edge_mask_type=change.get("edge_mask_type", "object"),
            model_config=config,
        )
    assert reason in caplog.text


def test_wrong_options_are_refused_when_they_are_given() -> None:
    with pytest.raises(InputError, match="sparsity"):
        eigsearch.EiGSearch(sparsity=2.0)
    with pytest.raises(TypeError, match="sparsness"):
        eigsearch.EiGSearch(sparsness=0.5)  # type: ignore[call-arg]


def test_inputs_are_refused_with_one_sentence() -> None:
    data, model = plain(), make_net()
    explainer = make_explainer(model, kind="phenomenon")
    label = torch.tensor([1])
    with pytest.raises(InputError, match=r"`index`.*\(got .*\)"):
        explainer(data.x, data.edge_index, target=label, index=4)
    with pytest.raises(InputError, match=r"`target`.*\(got 3\)"):
        explainer(data.x, data.edge_index, target=torch.zeros(3))
    with pytest.raises(InputError, match=r"`target`.*\(got 7\)"):
        explainer(data.x, data.edge_index, target=torch.tensor([7]))
    with pytest.raises(InputError, match=r"`batch`"):
        explainer(data.x, data.edge_index, target=label, batch=torch.zeros(4, dtype=torch.long))
    crossing = torch.arange(9) % 2
    with pytest.raises(InputError, match="within one graph"):
        explainer(data.x, data.edge_index, target=torch.tensor([1, 1]), batch=crossing)
    with pytest.raises(UnsupportedError, match="center_index"):
        explainer(data.x, data.edge_index, target=label, center_index=torch.tensor([1]))


def test_an_unknown_argument_is_not_swallowed() -> None:
    data = plain()
    with pytest.raises(TypeError, match="colour"):
        make_explainer(make_net(), kind="phenomenon")(
            data.x, data.edge_index, target=torch.tensor([1]), colour=torch.ones(9)
        )
