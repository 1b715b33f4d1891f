"""Feature groups: numbering, weights, and what is refused in one sentence."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch_geometric.data import Data

import eigsearch
from eigsearch.errors import InputError
from tests.inputs.test_validation import SENTENCE
from tests.nets import house, make_net


def plain(**change: Any) -> Data:
    data = house()
    return Data(**{"x": data.x, "edge_index": data.edge_index, **change})


def square() -> Data:
    """Return a graph with as many nodes as columns."""
    edge = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 4]])
    return Data(x=torch.randn(5, 5).double(), edge_index=torch.cat([edge, edge.flip(0)], dim=1))


@pytest.mark.parametrize(
    ("data", "options", "words"),
    [
        (plain(), {"features": "rows"}, "Expected `features` to be 'columns'"),
        (plain(), {"features": ()}, "Expected `features` to be 'columns'"),
        (plain(), {"features": ("columns", "nodes")}, "each feature to be in one group"),
        (plain(), {"features": torch.rand(5)}, "to hold integers"),
        (plain(), {"features": torch.tensor([0, -2, 0, 0, 0])}, "from -1 upwards"),
        (plain(), {"features": torch.zeros(4).long()}, "for each of 5 columns"),
        (square(), {"features": torch.zeros(5).long()}, "columns or nodes"),
        (plain(), {"baseline": "mean"}, "Expected `baseline` to come with `features`"),
        (plain(), {"features": "columns", "baseline": "median"}, "'zero', 'mean' or a tensor"),
        (plain(), {"features": "columns", "baseline": torch.zeros(3)}, r"\[5\] or \[9, 5\]"),
        (plain(), {"features": "columns", "baseline": torch.full((5,), torch.nan)}, "finite"),
        (
            plain(),
            {"features": ("columns", "edge_columns"), "baseline": torch.zeros(5)},
            "nodes and of edges at once",
        ),
        (plain(), {"features": "edge_columns"}, "features of edges in `edge_attr`"),
        (plain(x=house().x[:, None]), {"features": "columns"}, "a row for each of 9 nodes"),
        (plain(), {"groups": "none"}, "Expected groups='none' to come with `features`"),
        (plain(), {"features": "columns", "connected": True}, "connected=False"),
        (
            plain(),
            {"features": "columns", "ranker": eigsearch.explainers.get("random")},
            "linear_gradients, output_norm with `features`",
        ),
    ],
)
def test_feature_groups_wrong_arguments_raise_one_sentence(
    data: Data, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=words) as caught:
        eigsearch.explain(make_net(), data, **options)
    assert SENTENCE.match(str(caught.value)), caught.value


def test_integer_features_have_no_mean() -> None:
    data = plain(x=torch.ones(9, 2).long())
    with pytest.raises(InputError, match="features to be floating-point for baseline='mean'"):
        eigsearch.explain(lambda x, edge_index: x, data, node=0, features="nodes", baseline="mean")


@pytest.mark.parametrize("kind", [torch.long, torch.bool])
def test_integer_features_are_not_replaced_by_a_rounded_baseline(kind: torch.dtype) -> None:
    data, baseline = plain(x=torch.ones(9, 2).to(kind)), torch.tensor([0.5, 1.0])
    with pytest.raises(InputError, match="values that fit the type of `x`") as caught:
        eigsearch.explain(
            lambda x, edge_index: x.double(), data, node=0, features="columns", baseline=baseline
        )
    assert SENTENCE.match(str(caught.value)), caught.value


def test_feature_groups_model_that_does_not_read_the_features_raises() -> None:
    def model(x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return x

    with pytest.raises(InputError, match="Expected the model to read `edge_attr`") as caught:
        eigsearch.explain(model, house(), node=0, features="edge_columns")
    assert SENTENCE.match(str(caught.value))


def test_feature_groups_feature_weighs_as_much_as_an_edge_on_average() -> None:
    def model(x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        total = torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]])
        return total.sum(1, keepdim=True)

    data = plain(x=torch.ones(9, 5).double())
    ex = eigsearch.explain(model, data, node=4, task="regression", features="columns")
    assert ex.feature_score.tolist() == [1.0] * 5  # two neighbours; an edge and its reverse weigh 2
    assert ex.edge_score[ex.edge_score > 0].unique().tolist() == [2.5]


def test_nodes_and_columns_of_a_square_matrix_are_told_apart_by_shape() -> None:
    model = make_net(pool="mean")
    torch.manual_seed(0)
    data, numbers = square(), torch.arange(5)
    by_column = eigsearch.explain(model, data, features=numbers[None])
    by_node = eigsearch.explain(model, data, features=numbers[:, None])
    assert torch.equal(by_column.score, eigsearch.explain(model, data, features="columns").score)
    assert torch.equal(by_node.score, eigsearch.explain(model, data, features="nodes").score)


def test_partition_that_replaces_nothing_leaves_the_edges_or_nothing_to_explain() -> None:
    fixed = torch.full((5,), -1)
    without = eigsearch.explain(make_net(), house())
    edges = eigsearch.explain(make_net(), house(), features=fixed)
    assert edges.edge_mask.tolist() == without.edge_mask.tolist()
    assert edges.gain == pytest.approx(without.gain, abs=1e-6)
    nothing = eigsearch.explain(make_net(), house(), features=fixed, groups="none")
    assert nothing.size == 0
    assert "explanation is empty" in nothing.sentence()
