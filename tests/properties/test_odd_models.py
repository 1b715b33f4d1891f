"""Odd models: every number equals plain calls of the model, or the model is refused or noted."""

from __future__ import annotations

import threading
from itertools import product
from typing import Any

import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.utils import sort_edge_index

import eigsearch
from tests.nets import house
from tests.properties.odd_models import BODIES, ENDINGS, Caching, OddModel

MODELS = list(product(BODIES, ENDINGS))


def graph(model: OddModel, seed: int = 0) -> Data:
    full = house(seed)
    by_target = sort_edge_index(full.edge_index, sort_by_row=False)  # as an LSTM asks for
    data = Data(x=full.x, edge_index=by_target)
    if model.ending.label is not None:
        data.y = model.ending.label
    return data


def own_call(model: OddModel, data: Data) -> Any:
    """Return what the user reads off their own call for one graph."""
    for module in model.modules():  # a cache of another graph is the user's to clear
        if getattr(module, "cached", False):
            module._cached_edge_index = module._cached_adj_t = None  # type: ignore[assignment]
    with torch.no_grad():
        batch = torch.zeros(int(data.num_nodes), dtype=torch.long)
        row = model(data.x, data.edge_index, batch).reshape(-1)
    if isinstance(model.body, Caching):
        model.body.degree = None
    return model.ending.read(row)


def assert_like_own_calls(model: OddModel, ex: eigsearch.SubgraphExplanation) -> None:
    data, target = ex.data, ex.target
    rest = data.edge_subgraph(~ex.edge_mask)
    ends = torch.zeros(int(data.num_nodes), dtype=torch.bool)
    ends[rest.edge_index.flatten()] = True
    expected = [
        float(own_call(model, g)[target]) for g in (data, ex.subgraph(), rest.subgraph(ends))
    ]
    found = [ex.value, float(ex.found.kept), float(ex.found.removed)]
    assert found == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(("body", "ending"), MODELS)
def test_odd_model_alone_and_in_company_equals_plain_calls(body: str, ending: str) -> None:
    model = OddModel(body, ending)
    options = {"target": 0} if ending == "regression" else {}
    for engine in ("auto", "batched"):
        ex = eigsearch.explain(model, graph(model), engine=engine, **options)
        assert_like_own_calls(model, ex)
    together = eigsearch.explain_dataset(model, [graph(model, 1), graph(model, 2)], **options)
    for ex in together:
        assert_like_own_calls(model, ex)


@pytest.mark.parametrize("body", BODIES)
def test_odd_model_after_a_change_is_explained_as_it_is_now(body: str) -> None:
    model = OddModel(body, "logits")
    data = graph(model)
    eigsearch.explain(model, data)
    model.config["scale"] = 0.3  # edited in place
    assert_like_own_calls(model, eigsearch.explain(model, data))
    hook = model.head.register_forward_hook(lambda _module, _args, output: 0.5 * output)
    assert_like_own_calls(model, eigsearch.explain(model, data))
    hook.remove()
    assert_like_own_calls(model, eigsearch.explain(model, data))
    with torch.no_grad():
        model.head.weight.mul_(-1)
    assert_like_own_calls(model, eigsearch.explain(model, data))


@pytest.mark.parametrize("body", ["gin", "gcn cached", "batch norm", "by hand", "caching"])
def test_odd_model_in_threads_and_training_mode_is_explained_alike(body: str) -> None:
    model = OddModel(body, "logits")
    graphs = [graph(model, seed) for seed in range(4)]
    expected = [eigsearch.explain(model, data).edge_score for data in graphs]
    model.train()
    statistics = {k: v.clone() for k, v in model.named_buffers()}
    found: dict[int, Any] = {}

    def explain(number: int) -> None:
        for _ in range(3):
            found[number] = eigsearch.explain(model, graphs[number]).edge_score

    threads = [threading.Thread(target=explain, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, score in enumerate(expected):
        torch.testing.assert_close(found[number], score, atol=1e-5, rtol=1e-5)
    assert model.training
    assert all(torch.equal(v, statistics[k]) for k, v in model.named_buffers())
