"""PyG's types of node masks, served by groups of features."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch_geometric.data import Batch, Data
from torch_geometric.explain import Explainer

import eigsearch
from tests.nets import FEATURES, house, make_net


def plain(seed: int = 0) -> Data:
    data = house(seed)
    return Data(x=data.x, edge_index=data.edge_index)


def explainer(node_mask_type: str, task_level: str = "graph", **change: Any) -> Explainer:
    return Explainer(
        make_net(pool="mean" if task_level == "graph" else None),
        algorithm=eigsearch.EiGSearch(**change.pop("options", {})),
        explanation_type="model",
        node_mask_type=node_mask_type,
        edge_mask_type=change.pop("edge_mask_type", "object"),
        model_config={
            "mode": "multiclass_classification",
            "task_level": task_level,
            "return_type": "raw",
        },
        **change,
    )


SHAPES = {
    "object": ("nodes", (9, 1)),
    "common_attributes": ("columns", (1, FEATURES)),
    "attributes": ("entries", (9, FEATURES)),
}


@pytest.mark.parametrize("mask_type", SHAPES)
def test_a_node_mask_type_is_the_features_option(mask_type: str) -> None:
    features, shape = SHAPES[mask_type]
    data = plain()
    found = explainer(mask_type)(data.x, data.edge_index)
    own = eigsearch.explain(make_net(pool="mean"), data, features=features)
    assert found.validate(True)
    assert found.node_mask.shape == shape
    assert torch.equal(found.node_mask.bool(), own.node_mask)
    assert torch.equal(found.edge_mask.bool(), own.edge_mask)
    assert torch.equal(found.feature_score, own.feature_score.reshape(shape))


def test_a_mask_of_columns_leaves_all_nodes_to_the_subgraph_of_edges() -> None:
    data = plain()
    found = explainer("common_attributes")(data.x, data.edge_index)
    assert found.get_explanation_subgraph().num_edges == int(found.edge_mask.sum())


@pytest.mark.parametrize("mask_type", SHAPES)
def test_without_an_edge_mask_type_only_features_are_explained(mask_type: str) -> None:
    data = plain()
    found = explainer(mask_type, edge_mask_type=None)(data.x, data.edge_index)
    assert found.validate(True)
    assert found.get("edge_mask") is None
    assert found.details[0].num_edge_groups == 0
    assert 0 < found.size == found.details[0].feature_size


@pytest.mark.parametrize("mask_type", SHAPES)
def test_several_nodes_share_one_mask(mask_type: str) -> None:
    data = plain()
    found = explainer(mask_type, "node")(data.x, data.edge_index, index=torch.tensor([0, 5]))
    first, second = found.details
    assert torch.equal(found.node_mask.bool(), first.node_mask | second.node_mask)
    highest = torch.maximum(first.feature_score, second.feature_score)
    assert torch.equal(found.feature_score.reshape(highest.shape), highest)


def test_graphs_of_a_batch_keep_their_own_nodes() -> None:
    batch = Batch.from_data_list([plain(0), plain(1)])
    found = explainer("object")(batch.x, batch.edge_index, batch=batch.batch)
    masks = [result.node_mask for result in found.details]
    assert torch.equal(found.node_mask.bool(), torch.cat(masks))


def test_a_baseline_is_an_option_of_the_algorithm() -> None:
    data = plain()
    found = explainer("common_attributes", options={"baseline": "mean"})(data.x, data.edge_index)
    assert found.details[0].config["baseline"] == "mean"


def test_to_pyg_brings_the_mask_of_features() -> None:
    ex = eigsearch.explain(make_net(pool="mean"), plain(), features="columns")
    found = ex.to_pyg()
    assert found.validate(True)
    assert torch.equal(found.node_mask.bool(), ex.node_mask)
    assert torch.equal(found.feature_score, ex.feature_score)
