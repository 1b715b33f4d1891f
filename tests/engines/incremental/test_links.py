"""The incremental engine gives for links what the batched engine gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import GAE, GCNConv, global_mean_pool

import eigsearch
from eigsearch import datasets
from eigsearch.engines.incremental import pooling
from eigsearch.models import zoo
from tests.engines.incremental.test_engine import SERVED, assert_same, candidate_sets
from tests.instances import field_of, prepare_link
from tests.nets import FEATURES, WIDTH, house, make_net, vivid

Decode = Callable[[Tensor, Tensor], Tensor]
LINKS = [(0, 5), (4, 4), (8, 1), (0, 1)]  # not adjacent, a node with itself, isolated, an edge


class LinkNet(nn.Module):
    """States of nodes by two layers of one kind, and scores of pairs by a decoder."""

    def __init__(self, conv: str = "SAGE", decode: Decode | None = None) -> None:
        super().__init__()
        self.nodes, self.pairs = make_net(conv, None), decode or dot

    def forward(
        self,
        x: Tensor,
        edge_index: Tensor,
        edge_label_index: Tensor,
        edge_attr: Tensor | None = None,
        edge_weight: Tensor | None = None,
        edge_type: Tensor | None = None,
    ) -> Tensor:
        z = self.nodes(x, edge_index, edge_attr, edge_weight, edge_type)
        return self.pairs(z, edge_label_index)


def dot(z: Tensor, links: Tensor) -> Tensor:
    return (z[links[0]] * z[links[1]]).sum(dim=-1)


def both_at_once(z: Tensor, links: Tensor) -> Tensor:
    u, v = z[links]
    return torch.cat([u, v - u], dim=-1)


def one_by_one(z: Tensor, links: Tensor) -> Tensor:
    source, target = links
    return torch.cat([z.index_select(0, source), z.index_select(0, target)], dim=1).tanh()


def turned_round(z: Tensor, links: Tensor) -> Tensor:
    target, source = links.flip(0).unbind(0)
    return z[source] - 2 * z[target]


def swapped(z: Tensor, links: Tensor) -> Tensor:
    return z[links[[1, 0]][1]] - 2 * z[links.long()[-1]]


@pytest.mark.parametrize("conv", SERVED)
def test_every_layer_gives_for_a_link_what_it_gives_on_graphs(conv: str) -> None:
    model, data = LinkNet(conv), house()
    for link in LINKS[:1]:
        assert_same(model, candidate_sets(prepare_link(data, link, field_of(model))))


@pytest.mark.parametrize("decode", [dot, both_at_once, one_by_one, turned_round, swapped])
@pytest.mark.parametrize("link", LINKS)
def test_every_decoder_gives_what_it_gives_on_graphs(decode: Decode, link: Any) -> None:
    model = LinkNet("GCN", decode)
    instance = prepare_link(house(), link, field_of(model.nodes))
    if instance.groups.count:
        assert_same(model, candidate_sets(instance))


@pytest.mark.parametrize("target_link", ["keep", "drop"])
@pytest.mark.parametrize("groups", ["auto", "directed"])
def test_links_among_the_edges_kept_or_dropped(target_link: str, groups: str) -> None:
    model = LinkNet("GAT")
    instance = prepare_link(house(), (0, 1), field_of(model), groups, target_link)
    assert_same(model, candidate_sets(instance))


def test_links_of_several_graphs_share_a_run_in_pieces() -> None:
    model, data = LinkNet("GCN"), house()
    instances = [prepare_link(data, link, field_of(model)) for link in LINKS if link != (8, 1)]
    requests = [request for instance in instances for request in candidate_sets(instance)]
    for max_rows in (None, 40):
        assert_same(model, requests, max_rows)


class WithContext(nn.Module):
    """Scores pairs by their states and by the mean of their graph."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.head = GCNConv(FEATURES, WIDTH), nn.Linear(2 * WIDTH, 2)

    def forward(
        self, x: Tensor, edge_index: Tensor, batch: Tensor, edge_label_index: Tensor
    ) -> Any:
        z = self.conv(x, edge_index).tanh()
        of_graph = global_mean_pool(z, batch)
        return self.head(torch.cat([z[edge_label_index[0]], of_graph], dim=-1))


@pytest.mark.parametrize("link", [(0, 5), (8, 1)])
def test_incremental_engine_read_out_of_a_link_counts_both_ends_in_every_candidate(
    link: Any,
) -> None:
    torch.manual_seed(0)
    assert_same(vivid(WithContext()), candidate_sets(prepare_link(house(), link)))


def graph() -> Data:
    data = house()
    return Data(x=data.x, edge_index=data.edge_index)


def test_encode_and_decode_are_served() -> None:
    torch.manual_seed(0)
    model = GAE(vivid(GCNConv(FEATURES, WIDTH)))
    fast = eigsearch.explain(model, graph(), link=(0, 5), engine="incremental")
    slow = eigsearch.explain(model, graph(), link=(0, 5), engine="batched")
    assert (fast.engine, slow.engine) == ("incremental", "batched")
    torch.testing.assert_close(fast.score, slow.score, atol=1e-5, rtol=1e-5)
    assert fast.edge_mask.tolist() == slow.edge_mask.tolist()


def test_links_of_a_data_set_are_what_the_batched_engine_finds() -> None:
    model, _ = zoo.load("SBM-Links", "common_neighbours")
    data = datasets.generate("SBM-Links")[0]
    links = data.edge_label_index[:, :6]
    found = {
        engine: list(eigsearch.explain_dataset(model, data, link=links, engine=engine))
        for engine in ("incremental", "batched")
    }
    for fast, slow in zip(found["incremental"], found["batched"], strict=True):
        assert (fast.engine, slow.engine) == ("incremental", "batched")
        torch.testing.assert_close(fast.score, slow.score, atol=1e-5, rtol=1e-5)
        assert torch.equal(fast.edge_mask, slow.edge_mask)


def test_evaluator_first_answer_that_is_wrong_hands_over_to_the_batched_engine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    honest = pooling._explained
    monkeypatch.setattr(pooling, "_explained", lambda c, e, w: honest(c, e, 0))
    model = LinkNet("SAGE", both_at_once)
    with pytest.warns(UserWarning, match="Expected both engines to agree"):
        ex = eigsearch.explain(model, graph(), link=(0, 5), engine="incremental")
    assert ex.engine == "batched"
