"""RGCN computes PaGE-Link's formula with the published weights, loaded from a path."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch

from eigsearch import datasets
from eigsearch.errors import InputError
from eigsearch.models import RGCN, load_rgcn
from tests.reference.page_link import PageLink


@pytest.fixture(scope="module")
def folder() -> Path:
    folder = Path(os.environ.get("EIGSEARCH_DATA", "."), "user_item_attr")
    if not (folder / "rgcn.safetensors").is_file():
        pytest.skip("needs user_item_attr/ of PaGE-Link in EIGSEARCH_DATA")
    return folder


def test_load_rgcn_gives_the_published_log_odds(folder: Path) -> None:
    data = datasets.load("UserItemAttr", root=folder.parent)[0]
    links = data.edge_label_index[:, [401, 514, 382]]
    with torch.no_grad():
        found = load_rgcn(folder / "rgcn.safetensors")(data.x_dict, data.edge_index_dict, links)
    assert found.tolist() == pytest.approx([0.18440, 0.12990, 5.95260], abs=1e-4)


def test_rgcn_without_an_edge_equals_the_reference(folder: Path) -> None:
    reference = PageLink(folder)
    data = datasets.load("UserItemAttr", root=folder.parent)[0]
    model = load_rgcn(folder / "rgcn.safetensors")
    link = 401
    user = int(data.edge_label_index[0, link])
    edges = dict(data.edge_index_dict)
    bought = edges["user", "buys", "item"][1][edges["user", "buys", "item"][0] == user][0]
    for kind, pair in (("buys", (user, bought)), ("bought_by", (bought, user))):
        (key,) = [key for key in edges if key[1] == kind]
        gone = (edges[key].t() == torch.tensor(pair)).all(dim=1)
        edges[key] = edges[key][:, ~gone]
    with torch.no_grad():
        found = model(data.x_dict, edges, data.edge_label_index[:, [link]])
    assert float(found) == pytest.approx(reference.logit(link, (user, 100 + int(bought))), abs=1e-5)
    assert float(found) != pytest.approx(reference.logit(link), abs=1e-4)


def test_rgcn_relation_without_neighbours_adds_nothing() -> None:
    torch.manual_seed(0)
    model = RGCN(4, ["buys"])
    x = {"user": torch.rand(1, 4), "item": torch.rand(1, 4)}
    none = {("user", "buys", "item"): torch.empty(2, 0, dtype=torch.long)}
    layer = model.layer1(x, none)
    assert torch.equal(layer["item"], model.layer1.root(x["item"]))


def test_load_rgcn_of_another_file_is_an_input_error(tmp_path: Path) -> None:
    (tmp_path / "other.safetensors").write_bytes(b"nothing")
    with pytest.raises(InputError, match="PaGE-Link's R-GCN"):
        load_rgcn(tmp_path / "other.safetensors")
