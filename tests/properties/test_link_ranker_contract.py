"""The contract of rankers of links and typed graphs, kept by every registered explainer.

Those whose card says so explain them; all others refuse in a sentence that says what to do.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch_geometric.explain import GNNExplainer
from torch_geometric.nn import GATConv, SAGEConv

import eigsearch
from eigsearch import explain, explainers
from eigsearch.errors import UnsupportedError
from eigsearch.explainers.registry import method_class
from tests.properties.test_explainer_contract import same, snapshot
from tests.properties.test_links import LinkNet as PlainNet
from tests.properties.test_links import graph
from tests.typed_nets import GraphNet, LinkNet, NodeNet, make, shop

NAMES = explainers.names()
LINKS = [name for name in NAMES if "link" in method_class(name).card.tasks]
TYPED = [name for name in NAMES if method_class(name).card.typed]
LINK = (("user", 0), ("item", 2))
CASES: dict[str, Any] = {
    "link": lambda encoder: (make(LinkNet, encoder), {"link": LINK}),
    "node": lambda encoder: (make(NodeNet, encoder), {"node": ("user", 1)}),
    "graph": lambda encoder: (make(GraphNet, encoder), {}),
}


def ranker(name: str) -> Any:
    return explainers.get(name, **method_class(name).cheap_options)


def attentive(inputs: int, outputs: int) -> nn.Module:
    return GATConv(inputs, outputs // 2, heads=2)


def network(name: str) -> PlainNet:
    conv: Any = attentive if name == "att" else SAGEConv
    return PlainNet(conv=conv).eval()


def check(ex: eigsearch.SubgraphExplanation, again: eigsearch.SubgraphExplanation) -> None:
    assert torch.isfinite(ex.score).all()
    assert ex.score.shape == (ex.num_groups,)
    assert len(set(ex.score.tolist())) > 1
    assert 1 <= ex.size < ex.num_groups
    assert ex.gain == pytest.approx(float(ex.curve.gain.max()), abs=1e-6)
    assert torch.equal(ex.score, again.score)


@pytest.mark.parametrize("name", LINKS)
def test_links_are_ranked_alike_every_time_and_the_model_is_left_as_it_was(name: str) -> None:
    model, data = network(name), graph()
    before = snapshot(model)
    ex, again = (explain(model, data, link=(0, 5), ranker=ranker(name)) for _ in range(2))
    check(ex, again)
    assert ex.node_mask[[0, 5]].all()
    assert same(before, snapshot(model))
    of = {
        tuple(e): s for e, s in zip(data.edge_index.T.tolist(), ex.edge_score.tolist(), strict=True)
    }
    assert all(of[u, v] == of[v, u] for u, v in of)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", TYPED)
def test_typed_graphs_are_ranked_alike_every_time(name: str, case: str) -> None:
    model, which = CASES[case]("to_hetero" if case == "node" else "HeteroConv SAGE")
    before = snapshot(model)
    ex, again = (explain(model, shop(), ranker=ranker(name), **which) for _ in range(2))
    check(ex, again)
    assert same(before, snapshot(model))


@pytest.mark.parametrize("name", [name for name in NAMES if name not in LINKS])
def test_other_rankers_refuse_links_in_a_sentence(name: str) -> None:
    with pytest.raises(UnsupportedError, match=r"explains links \(got .*Leave `ranker` out"):
        explain(PlainNet().eval(), graph(), link=(0, 5), ranker=ranker(name))


@pytest.mark.parametrize("name", [name for name in NAMES if name not in TYPED])
def test_other_rankers_refuse_typed_graphs_in_a_sentence(name: str) -> None:
    with pytest.raises(UnsupportedError, match=r"explains typed graphs \(got .*Leave `ranker` out"):
        explain(make(NodeNet, "HGT"), shop(), node=("user", 1), ranker=ranker(name))


@pytest.mark.parametrize("name", ["ig", "grad"])
def test_weights_of_messages_need_a_layer_for_each_type(name: str) -> None:
    with pytest.raises(UnsupportedError, match="got HGTConv, which takes all types at once"):
        explain(make(LinkNet, "HGT"), shop(), link=LINK, ranker=ranker(name))


# What the scores are ------------------------------------------------------------------------------


@torch.no_grad()
def test_ig_of_a_link_adds_up_to_the_logit_without_weights() -> None:
    model, data = PlainNet().eval(), graph()
    pair = torch.tensor([[0], [5]])
    scores = explain(model, data, link=(0, 5), target=1, ranker=explainers.get("ig", steps=200))
    none = torch.zeros(2, 0, dtype=torch.long)
    # A mean over neighbours of weight zero is zero, as that over no neighbours is.
    change = model(data.x, data.edge_index, pair) - model(data.x, none, pair)
    total = 2 * scores.score.sum()  # a group has two edges, and its score is their mean
    assert float(total) == pytest.approx(float(change), abs=1e-3)


@torch.no_grad()
def test_ig_of_a_typed_link_adds_up_to_the_logit_without_weights() -> None:
    model, data = make(LinkNet, "HeteroConv SAGE"), shop()
    pair = torch.tensor([[0], [2]])
    ex = explain(model, data, link=LINK, target=1, ranker=explainers.get("ig", steps=200))
    none = {kind: torch.zeros(2, 0, dtype=torch.long) for kind in data.edge_types}
    change = model(data.x_dict, data.edge_index_dict, pair) - model(data.x_dict, none, pair)
    total = sum(float(score.sum()) for score in ex.edge_score.values())
    assert total == pytest.approx(float(change), abs=1e-3)


def test_sa_of_a_link_is_the_squared_gradient_of_its_logit() -> None:
    model, data = PlainNet().eval(), graph()
    ex = explain(model, data, link=(0, 5), target=1, ranker="sa", groups="directed")
    x = data.x.clone().requires_grad_()
    (slope,) = torch.autograd.grad(model(x, data.edge_index, torch.tensor([[0], [5]])).sum(), x)
    node = slope.square().sum(dim=1)
    node[[0, 5]] = torch.inf  # the ends come first
    expected = node[data.edge_index].amin(dim=0).clamp_max(float(slope.square().sum(dim=1).max()))
    chosen = torch.zeros(data.num_edges, dtype=torch.bool)
    chosen[ex.edges] = True
    torch.testing.assert_close(ex.edge_score[chosen].float(), expected[chosen].float())


def test_pyg_algorithm_ranks_a_link_as_our_gnnexplainer_does() -> None:
    model, data = PlainNet().eval(), graph()
    torch.manual_seed(0)
    ex = explain(model, data, link=(0, 5), ranker=GNNExplainer(epochs=3))
    assert torch.isfinite(ex.score).all()
    assert len(set(ex.score.tolist())) > 1


def test_function_of_the_user_is_refused_for_links_with_what_to_do() -> None:
    with pytest.raises(UnsupportedError, match="Leave `ranker` out"):
        explain(PlainNet().eval(), graph(), link=(0, 5), ranker=lambda model, data: data.x[:, 0])


def test_scores_of_the_user_rank_links_and_typed_graphs() -> None:
    data, typed = graph(), shop()
    scores = torch.arange(data.num_edges).double()
    ex = explain(PlainNet().eval(), data, link=(0, 5), ranker=scores)
    assert float(ex.score.max()) > 0
    count = sum(typed[kind].num_edges for kind in typed.edge_types)
    flat = torch.arange(count).double()
    found = explain(make(LinkNet, "HGT"), typed, link=LINK, ranker=flat)
    assert found.order.numel() == found.num_groups
