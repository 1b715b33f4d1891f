"""Fidelity of masks of links and typed graphs, from any explainer."""

from __future__ import annotations

import pytest
import torch

import eigsearch
from eigsearch import datasets, metrics
from eigsearch.datasets.ground_truth import candidates, true_edges
from eigsearch.errors import InputError, UnsupportedError
from eigsearch.metrics import Claim
from eigsearch.models import zoo
from eigsearch.options import Options
from tests.integrations.pyg.test_links_and_types import typed_graph, typed_model

OPTIONS = Options(task="multiclass", return_type="raw")


@pytest.mark.parametrize("name", ["HeteroConv", "HGT", "HAN"])
def test_fidelity_of_a_typed_explanation_is_its_own(name: str) -> None:
    model, data = typed_model(name), typed_graph()
    for subject in ({"node": ("paper", 2)}, {"link": (("author", 1), ("paper", 2))}):
        ex = eigsearch.explain(model, data, **subject, task="multiclass", return_type="raw")
        found = metrics.fidelity(model, Claim.of(ex), OPTIONS)
        assert float(found.gain) == pytest.approx(ex.gain, abs=1e-5)


def test_fidelity_of_a_typed_mask_is_that_of_plain_calls() -> None:
    model, data = typed_model("HGT"), typed_graph()
    mask = {kind: torch.arange(10) < 4 for kind in data.edge_types}
    found = metrics.fidelity(model, Claim(data, mask, node=("paper", 2), target=1), OPTIONS)
    rest = {kind: data[kind].edge_index[:, 4:] for kind in data.edge_types}
    with torch.no_grad():
        removed = model(data.x_dict, rest)[2].softmax(0)[1]
    assert float(found.removed) == pytest.approx(float(removed), abs=1e-5)


def test_claim_of_missing_types_marks_nothing_in_them() -> None:
    data = typed_graph()
    kind = data.edge_types[1]
    claim = Claim(data, {kind: torch.ones(10, dtype=torch.bool)}, node=("paper", 0))
    assert claim.edges.sum() == 10


def test_claim_of_masks_that_do_not_fit_a_typed_graph_is_refused() -> None:
    data = typed_graph()
    with pytest.raises(InputError, match="dict by type"):
        Claim(data, torch.ones(30), node=("paper", 0))
    with pytest.raises(InputError, match="10 entries"):
        Claim(data, {data.edge_types[0]: torch.ones(9)}, node=("paper", 0))
    with pytest.raises(UnsupportedError, match="one kind of mask"):
        Claim(data, {}, {}, node=("paper", 0))


def test_true_edges_of_a_link_are_those_that_its_data_set_lists() -> None:
    data = datasets.load("Two-Ways").graphs[0]
    model, _ = zoo.load("Two-Ways", "hetero")
    column = int((data.y == 1).nonzero()[0])
    user, item = data.edge_label_index[:, column].tolist()
    ex = eigsearch.explain(model, data, link=(("user", user), ("item", item)))
    truth = true_edges(ex)
    assert truth is not None
    listed = sum(int((data[kind].link_truth[0] == column).sum()) for kind in data.edge_types)
    assert int(truth.sum()) == listed > 0
    assert bool(candidates(ex)[truth].all())
