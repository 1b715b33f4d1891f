"""`flip` of links and typed graphs against every set of edges, tried one plain call at a time."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import torch
from torch_geometric.data import Data, HeteroData

import eigsearch
from eigsearch.counterfactual.explanation import FlipExplanation
from eigsearch.errors import UnsupportedError
from tests.properties.test_links import LinkNet as PlainNet
from tests.properties.test_links import graph
from tests.reference import flip as twin
from tests.reference import typed_twin
from tests.typed_nets import REVERSE, LinkNet, NodeNet, make, shop

LINK = (("user", 0), ("item", 2))


def one(*args: Any, **options: Any) -> FlipExplanation:
    found = eigsearch.flip(*args, **options)
    assert isinstance(found, FlipExplanation)
    return found


@torch.no_grad()
def logit(model: Any, edges: Any, link: tuple[int, int], data: Data | None = None) -> float:
    data = data or graph()
    both = torch.tensor([*edges, *((v, u) for u, v in edges)]).reshape(-1, 2).t().long()
    return float(model(data.x, both, torch.tensor([link]).t()))


def balanced(link: tuple[int, int]) -> PlainNet:
    """Return a network that is not sure about a link."""
    model = PlainNet().eval()
    with torch.no_grad():
        model.head.bias -= (logit(model, twin.undirected(graph()), link) - 0.05) / 4
    return model


@pytest.mark.parametrize("add", [False, True])
@pytest.mark.parametrize("link", [(0, 5), (8, 1), (4, 4)])
def test_flip_link_exhaustive_finds_the_smallest_sets_of_all(
    link: tuple[int, int], add: bool
) -> None:
    model, data = balanced(link), graph()
    edges = twin.undirected(data)
    pool = edges + (twin.within_two_hops(data) if add else [])
    expected: set[frozenset[tuple[int, int]]] = set()
    for size in (1, 2):
        sets = map(frozenset, combinations(pool, size))
        expected = {s for s in sets if logit(model, sorted(set(edges) ^ s), link) < 0}
        if expected:
            break
    found = eigsearch.flip(
        model, data, link=link, search="exhaustive", answers=500, max_size=2, add=add
    )
    assert isinstance(found, list)
    assert {pairs_of(f) for f in found if f.size == found[0].size} == expected
    assert expected


@pytest.mark.parametrize("seed", [13, 17])
def test_flip_link_exhaustive_removes_what_only_an_addition_brings_into_reach(seed: int) -> None:
    features = torch.randn(6, 5, generator=torch.Generator().manual_seed(seed), dtype=torch.double)
    edges = [(0, 3), (0, 5), (1, 2), (1, 4), (1, 5), (2, 4), (2, 5)]
    both = torch.tensor([*edges, *((v, u) for u, v in edges)]).t()
    model, data, link = PlainNet().eval(), Data(x=features, edge_index=both), (3, 3)
    with torch.no_grad():
        model.head.bias -= (logit(model, edges, link, data) - 0.052) / 4
    sets = map(frozenset, combinations(edges + twin.within_two_hops(data), 2))
    expected = {s for s in sets if logit(model, sorted(set(edges) ^ s), link, data) < 0}
    assert expected == {frozenset({(2, 5), (3, 5)})}  # without (3, 5) the link is far from (2, 5)
    found = eigsearch.flip(
        model, data, link=link, add=True, search="exhaustive", answers=5, max_size=2
    )
    assert isinstance(found, list)
    assert set(map(pairs_of, found)) == expected


def pairs_of(found: FlipExplanation) -> frozenset[tuple[int, int]]:
    pairs = torch.cat([found.removed, found.added], dim=1).t().tolist()
    return frozenset((min(u, v), max(u, v)) for u, v in pairs)


def test_flip_link_says_that_there_is_none_any_more() -> None:
    found = one(balanced((0, 5)), graph(), link=(0, 5))
    assert (found.link, found.node) == ((0, 5), None)
    assert (found.prediction, found.prediction_after) == (1, 0)
    assert found.sentence().startswith("P(link) = ")
    assert "the prediction is no link" in found.sentence()
    assert "link=(0, 5)" in repr(found)


def test_flip_link_drop_never_counts_the_link_itself() -> None:
    data = graph()
    data.edge_index = torch.cat([data.edge_index, torch.tensor([[0, 5], [5, 0]])], dim=1)
    kept = one(balanced((0, 5)), graph(), link=(0, 5))
    found = one(balanced((0, 5)), data, link=(0, 5), target_link="drop")
    assert pairs_of(found) == pairs_of(kept)


@pytest.mark.parametrize(("link", "change"), [((0, 2), "added"), ((0, 3), "removed")])
def test_flip_link_by_its_own_edge_says_so(link: tuple[int, int], change: str) -> None:
    model, data = balanced(link), graph()
    with torch.no_grad():
        model.head.bias -= 0.07 / 4
    options = {"link": link, "add": True, "search": "exhaustive", "max_size": 1}
    answers = eigsearch.flip(model, data, answers=50, **options)
    assert isinstance(answers, list)
    noted = [answer for answer in answers if "is the link itself" in answer.sentence()]
    assert [pairs_of(answer) for answer in noted] == [frozenset([link])]
    assert getattr(noted[0], change).numel() > 0
    assert len(answers) > 1  # others do without
    dropped = eigsearch.flip(model, data, answers=50, target_link="drop", **options)
    assert isinstance(dropped, list)
    assert all("is the link itself" not in answer.sentence() for answer in dropped)
    assert frozenset([link]) not in map(pairs_of, dropped)


def test_flip_dataset_links_are_those_of_single_calls() -> None:
    model, links = balanced((0, 5)), torch.tensor([[0, 8], [5, 1]])
    for workers in (None, 2):
        several = list(eigsearch.flip_dataset(model, graph(), link=links, workers=workers))
        assert [found.link for found in several] == [(0, 5), (8, 1)]
        for found in several:
            assert pairs_of(found) == pairs_of(one(model, graph(), link=found.link))


@torch.no_grad()
def typed_logit(model: Any, data: HeteroData, edges: Any) -> float:
    part, nodes = typed_twin.subgraph(data, edges, LINK, induced=False)
    pair = torch.tensor([[nodes[0][1]], [nodes[1][1]]])
    return float(model(part.x_dict, part.edge_index_dict, pair))


@pytest.mark.parametrize(("encoder", "sign"), [("HeteroConv SAGE", 1), ("HGT", -1)])
def test_flip_typed_link_exhaustive_finds_the_smallest_sets_of_all(encoder: str, sign: int) -> None:
    data, inner = shop(), make(LinkNet, encoder)
    edges = [(kind, c) for kind in data.edge_types for c in range(data[kind].num_edges)]
    before = typed_logit(inner, data, edges)

    class Unsure(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = inner

        def forward(self, x_dict: Any, edge_index_dict: Any, edge_label_index: Any) -> Any:
            found = self.inner(x_dict, edge_index_dict, edge_label_index)
            return sign * (found - before) + 0.02

    model = Unsure().eval()
    group = typed_twin.group_edges(data, edges, REVERSE)
    names = sorted(set(group))
    expected: set[frozenset[int]] = set()
    for size in (1, 2):
        for chosen in combinations(names, size):
            rest = [e for e, g in zip(edges, group, strict=True) if g not in chosen]
            if typed_logit(model, data, rest) < 0:
                expected.add(frozenset(chosen))
        if expected:
            break
    found = eigsearch.flip(model, data, link=LINK, search="exhaustive", answers=200, max_size=2)
    assert isinstance(found, list)
    smallest = {
        frozenset(group[n] for n, removed in enumerate(f.flat_edge_mask.tolist()) if removed)
        for f in found
        if f.size == found[0].size
    }
    assert smallest == expected
    assert list(found[0].removed) == data.edge_types


def test_flip_typed_node_survives_json_and_a_page(tmp_path: Path) -> None:
    found = one(make(NodeNet, "HeteroConv GAT"), shop(), node=("user", 0))
    assert found.flipped
    back = FlipExplanation.load(found.save(tmp_path / "flip.json"))
    assert (back.node, back.sentence()) == (found.node, found.sentence())
    assert str(back.removed) == str(found.removed)
    assert "the prediction is" in found.save(tmp_path / "flip.html").read_text()


def test_flip_typed_graph_with_additions_is_refused_in_a_sentence() -> None:
    with pytest.raises(UnsupportedError, match=r"adds edges .*Leave `add` out"):
        eigsearch.flip(make(NodeNet, "HGT"), shop(), node=("user", 0), add=True)


def test_flip_unknown_keyword_is_refused_with_the_keywords_that_there_are() -> None:
    with pytest.raises(TypeError, match=r"got `links`.*Choose from groups.*max_size") as caught:
        eigsearch.flip(PlainNet(), graph(), links=(0, 1))
    assert "sparsity" not in str(caught.value)
