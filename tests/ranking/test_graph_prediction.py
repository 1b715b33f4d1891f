"""Links and typed graphs as predictions of graphs: what gradient methods then differentiate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch_geometric.data import HeteroData

import eigsearch
from tests.typed_nets import EdgeType, GraphNet, LinkNet, NodeNet, make, shop

STEP = 1e-5
PAIR = torch.tensor([[0], [2]])
Weights = dict[EdgeType, Tensor]


def weighed_output(model: Any, data: HeteroData, weights: Weights, *rest: Any) -> Tensor:
    """Return what a model says when the messages along each edge are multiplied by a weight.

    By a hook on each layer's messages, not by the masks of PyG that the library sets.
    """
    hooks = [
        conv.register_message_forward_hook(lambda _, __, sent, w=weights[kind]: sent * w[:, None])
        for layer in model.encoder.layers
        for kind, conv in layer.convs.items()
    ]
    try:
        output: Tensor = model(data.x_dict, data.edge_index_dict, *rest)
    finally:
        for hook in hooks:
            hook.remove()
    return output


@torch.no_grad()
def slopes(data: HeteroData, score: Callable[[Weights], Tensor]) -> Weights:
    """Return ∂ score / ∂ w of each edge at w = 1, by central differences."""
    ones = {kind: torch.ones(data[kind].num_edges).double() for kind in data.edge_types}
    found: Weights = {}
    for kind, one in ones.items():
        steps = STEP * torch.eye(len(one)).double()
        change = [score({**ones, kind: one + s}) - score({**ones, kind: one - s}) for s in steps]
        found[kind] = torch.stack(change) / (2 * STEP)
    return found


def check(found: eigsearch.SubgraphExplanation, expected: Weights) -> None:
    score: Any = found.edge_score
    for kind, slope in expected.items():
        inside = ~score[kind].isnan()
        torch.testing.assert_close(
            score[kind][inside].double(), slope[inside], rtol=1e-4, atol=1e-6
        )
        assert not slope[~inside].any()  # outside of the computation graph
    assert any(slope.abs().max() > 0.01 for slope in expected.values())


@pytest.mark.parametrize("user", [1, 4])
def test_grad_typed_node_is_the_slope_of_its_class_score_by_message_weight(user: int) -> None:
    """Edges of the computation graph have other numbers than those of the whole graph."""
    model, data = make(NodeNet, "HeteroConv SAGE"), shop()
    found = eigsearch.explain(
        model, data, node=("user", user), target=1, ranker="grad", groups="directed"
    )
    check(found, slopes(data, lambda w: weighed_output(model, data, w)[user, 1]))


def test_grad_typed_link_is_the_slope_of_its_logit_by_message_weight() -> None:
    model, data = make(LinkNet, "HeteroConv SAGE"), shop()
    link = (("user", 0), ("item", 2))
    found = eigsearch.explain(model, data, link=link, target=1, ranker="grad", groups="directed")
    check(found, slopes(data, lambda w: weighed_output(model, data, w, PAIR)[0]))


def test_grad_typed_graph_is_the_slope_of_its_class_score_by_message_weight() -> None:
    model, data = make(GraphNet, "HeteroConv SAGE"), shop()
    batch = {kind: torch.zeros(data[kind].num_nodes, dtype=torch.long) for kind in data.node_types}
    found = eigsearch.explain(model, data, target=1, ranker="grad", groups="directed")
    check(found, slopes(data, lambda w: weighed_output(model, data, w, batch)[0, 1]))
