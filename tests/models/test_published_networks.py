"""The paper's own networks: architectures by their formulas, weights by their known accuracy."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from eigsearch import datasets
from eigsearch.errors import InputError
from eigsearch.models import PublishedGCN, PublishedGIN, evaluate, load_published
from eigsearch.models.published_networks import published_names, weights_path

ACCURACY = {  # on all graphs or nodes of the published sets
    ("BA-2Motifs", "gcn"): 1.00,
    ("BA-2Motifs", "gin"): 1.00,
    ("BA-Shapes", "gin"): 0.986,
    ("BA-Community", "gin"): 0.975,
    ("Tree-Grid", "gin"): 0.970,
    ("Mutagenicity", "gin"): 0.872,
}


@pytest.fixture(scope="module")
def root() -> Path:
    root = Path(os.environ.get("EIGSEARCH_DATA", "."))
    if not (root / "published_weights").is_dir():
        pytest.skip("needs published_weights/ in EIGSEARCH_DATA")
    return root


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.mark.parametrize(("dataset", "conv"), ACCURACY)
def test_load_published_has_the_known_accuracy(dataset: str, conv: str, root: Path) -> None:
    model = load_published(root / "published_weights", dataset, conv)
    found, _ = evaluate(model, datasets.load(dataset, root=root))
    assert found == pytest.approx(ACCURACY[dataset, conv], abs=6e-4)


def test_published_names_are_those_of_the_files(root: Path) -> None:
    names = published_names(root / "published_weights")
    assert len(names) == len(list((root / "published_weights").glob("*.safetensors"))) == 11


def graph() -> tuple[torch.Tensor, torch.Tensor]:
    edges = torch.tensor([[0, 1, 1, 2, 2, 0, 3], [1, 0, 2, 1, 0, 2, 1]])
    return torch.rand(4, 3, generator=torch.Generator().manual_seed(0)), edges


def test_published_gcn_sums_normalised_rows_without_self_loops() -> None:
    torch.manual_seed(0)
    model, (h, edges) = PublishedGCN(3, 2, 5).eval(), graph()
    expected = h
    for conv in (model.conv1, *model.convs):
        conv.bias.data.normal_()
        sent = expected / expected.norm(dim=1, keepdim=True).clamp_min(1e-12) @ conv.lin.weight.t()
        rows = [sent[edges[0, edges[1] == node]].sum(dim=0) for node in range(4)]
        expected = (torch.stack(rows) + conv.bias).relu()
    pooled = expected.mean(dim=0, keepdim=True)
    expected = model.lin2(model.lin1(pooled).relu()).log_softmax(dim=1)
    assert torch.allclose(model(h, edges), expected, atol=1e-6)


@pytest.mark.parametrize("task", ["graph", "node"])
def test_published_gin_normalises_within_its_network(task) -> None:
    torch.manual_seed(0)
    model, (h, edges) = PublishedGIN(3, 2, 5, task).eval(), graph()
    expected = h
    for conv in (model.conv1, *model.convs):
        conv.eps.data.fill_(0.3)
        first, _, second, _, norm = conv.nn
        norm.running_mean.normal_()
        rows = [h_sum(expected, edges, node) for node in range(4)]
        inner = second(first(1.3 * expected + torch.stack(rows)).relu()).relu()
        expected = (inner - norm.running_mean) / (norm.running_var + norm.eps).sqrt()
    if task == "graph":
        expected = expected.mean(dim=0, keepdim=True)
    expected = model.lin2(model.lin1(expected).relu())
    expected = expected.log_softmax(dim=1) if task == "graph" else expected
    assert torch.allclose(model(h, edges), expected, atol=1e-5)


def h_sum(h: torch.Tensor, edges: torch.Tensor, node: int) -> torch.Tensor:
    return h[edges[0, edges[1] == node]].sum(dim=0)


def test_load_published_reads_what_was_saved(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = PublishedGIN(10, 4, 6, "node").eval()
    save_file(model.state_dict(), weights_path(tmp_path, "BA-Shapes", "gin"))
    assert published_names(tmp_path) == (("BA-Shapes", "gin"),)
    x, edges = torch.rand(4, 10), graph()[1]
    assert torch.equal(load_published(tmp_path, "ba shapes", "GIN")(x, edges), model(x, edges))


def test_load_published_without_the_file_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="published weights such as gcn_MUTAG"):
        load_published(tmp_path, "MUTAG", "gcn")
    save_file({"lin2.weight": torch.ones(2, 3)}, weights_path(tmp_path, "MUTAG", "gcn"))
    with pytest.raises(InputError, match="weights of the paper's network"):
        load_published(tmp_path, "MUTAG", "gcn")
    with pytest.raises(InputError, match="network for MUTAG"):
        load_published(tmp_path, "MUTAG", "gin")
