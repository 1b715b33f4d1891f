"""UserItemAttr of PaGE-Link: what is read, and the numbers that are known about it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from eigsearch import datasets
from eigsearch.datasets.no_model_rules import low_degree_path, on_short_path, structure_of
from eigsearch.errors import InputError
from tests.reference.page_link import PageLink


@pytest.fixture
def folder(data_root: Path) -> Path:
    if not (data_root / "user_item_attr" / "graph.npz").is_file():
        pytest.skip("needs user_item_attr/ of PaGE-Link in EIGSEARCH_DATA")
    return data_root / "user_item_attr"


def test_load_user_item_attr_has_the_published_counts(folder: Path) -> None:
    dataset = datasets.load("UserItemAttr", root=folder.parent)
    data = dataset[0]
    assert {kind: data[kind].num_nodes for kind in data.node_types} == {
        **{"user": 100, "item": 100, "attr": 50}
    }
    assert data["user", "buys", "item"].num_edges == data["item", "bought_by", "user"].num_edges
    assert data["item", "has", "attr"].num_edges == 227
    assert (dataset.num_predictions, int(data.test_mask.sum())) == (714, 144)
    assert ("user", "likes", "item") not in data.edge_types
    assert dataset.has_ground_truth


def test_load_user_item_attr_truth_lists_each_edge_with_its_reverse(folder: Path) -> None:
    data = datasets.load("UserItemAttr", root=folder.parent)[0]
    for one, back in (("buys", "bought_by"), ("has", "of")):
        marked = []
        for name in (one, back):
            (kind,) = [kind for kind in data.edge_types if kind[1] == name]
            link, column = data[kind].link_truth
            source, target = data[kind].edge_index[:, column]
            ends = (source, target) if name == one else (target, source)
            marked.append(set(zip(*(part.tolist() for part in (link, *ends)), strict=True)))
        assert marked[0] == marked[1]
        assert marked[0]


def test_load_user_item_attr_without_files_says_where_to_put_them(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"user_item_attr/graph\.npz"):
        datasets.load("UserItemAttr", root=tmp_path)


def test_reference_explanations_have_the_known_auc_on_129_links(folder: Path) -> None:
    reference = PageLink(folder)
    links = [link for link in reference.test_links if reference.logit(link) > 0]
    assert len(links) == 129
    drops = {link: reference.drops(link) for link in links}
    by_edge = [reference.auc(link, drops[link]) for link in links]
    by_path = [reference.auc(link, reference.path_scores(link, drops[link])) for link in links]
    assert np.mean(by_edge) == pytest.approx(0.880, abs=0.005)
    assert np.mean(by_path) == pytest.approx(0.959, abs=0.005)


def test_rules_without_a_model_beat_every_published_explainer(folder: Path) -> None:
    """The truth was defined as short paths through nodes of low degree, so a rule finds it."""
    reference = PageLink(folder)
    data = datasets.load("UserItemAttr", root=folder.parent)[0]
    structure, first = structure_of(data)
    found: dict[str, list[float]] = {"path": [], "degree": []}
    links = [link for link in reference.test_links if reference.logit(link) > 0]
    for link in links:
        user, item = data.edge_label_index[:, link].tolist()
        ends = (first["user"] + user, first["item"] + item)
        for name, rule in (("path", on_short_path), ("degree", low_degree_path)):
            scores = dict(
                zip(_pairs(structure.edge_index, first), rule(structure, ends), strict=True)
            )
            found[name].append(reference.auc(link, scores))
    assert np.mean(found["path"]) == pytest.approx(0.922, abs=0.005)
    assert np.mean(found["degree"]) == pytest.approx(0.987, abs=0.005)


def _pairs(edge_index: np.ndarray, first: dict[str, int]) -> list[tuple[int, int]]:
    """Ends of each edge in the numbering of the reference, the smaller one first."""
    order = ("attr", "item", "user")
    starts = [first[kind] for kind in order]
    kinds = np.searchsorted(starts, np.arange(250), side="right") - 1
    number = {
        node: node - starts[kind] + {"user": 0, "item": 100, "attr": 200}[order[kind]]
        for node, kind in enumerate(kinds)
    }
    both = [(number[a], number[b]) for a, b in edge_index.T.tolist()]
    return [(min(pair), max(pair)) for pair in both]


def test_load_user_item_attr_features_are_the_published_embeddings(folder: Path) -> None:
    data = datasets.load("UserItemAttr", root=folder.parent)[0]
    assert data["user"].x.shape == (100, 64)
    assert torch.isfinite(data["attr"].x).all()
