"""Odd models: every number equals plain calls of the model, or the model is refused or noted."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric import nn as pyg
from torch_geometric.data import Data
from torch_geometric.utils import sort_edge_index

import eigsearch
from tests.nets import FEATURES, house
from tests.properties.odd_models import BODIES, ENDINGS, MIXERS, Caching, OddModel

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


@pytest.mark.parametrize("mixer", MIXERS)
@pytest.mark.parametrize("body", ["gin", "sum layer", "by hand"])
def test_odd_model_that_mixes_graphs_equals_plain_calls(body: str, mixer: str) -> None:
    for engine in ("auto", "batched"):
        model = OddModel(body, "logits", mixer)
        for seed in (0, 1, 0):  # what the first call learns serves the others
            assert_like_own_calls(
                model, eigsearch.explain(model, graph(model, seed), engine=engine)
            )
    graphs = [graph(model, seed) for seed in range(3)]
    for ex in eigsearch.explain_dataset(OddModel(body, "logits", mixer), graphs):
        assert_like_own_calls(model, ex)


@pytest.mark.parametrize("engine", ["auto", "batched"])
@pytest.mark.parametrize("mixer", MIXERS)
@pytest.mark.filterwarnings("ignore:Expected both engines")
def test_odd_model_that_comes_to_mix_graphs_is_explained_as_it_is_now(
    mixer: str, engine: str
) -> None:
    model = OddModel("gin", "logits")
    for seed in (0, 1):
        eigsearch.explain(model, graph(model, seed), engine=engine)
    model.mix = MIXERS[mixer]
    for seed in (0, 1):
        assert_like_own_calls(model, eigsearch.explain(model, graph(model, seed), engine=engine))


class NodeModel(nn.Module):
    """Predicts nodes by what it should not see, or in a way that fails on a single node."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        torch.manual_seed(2)
        self.kind, self.first = kind, pyg.GCNConv(FEATURES, 6)
        self.last = pyg.GCNConv(6, 3)
        self.norm = nn.BatchNorm1d(6, track_running_stats=False, affine=False)
        self.double().eval()

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.first(x, edge_index).tanh()
        if self.kind == "batch norm":
            h = self.norm(h)
        if self.kind == "average":
            h = h - h.mean(dim=0)
        if self.kind == "size":
            h = h * x.size(0) / 10
        if self.kind == "far":
            for _ in range(4):
                h = h + 0.3 * torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]])
        if self.kind == "order":
            h = h + 0.5 * h[h[:, 0].argsort().argsort()]
        return self.last(h, edge_index)


@pytest.mark.parametrize("engine", ["auto", "batched"])
@pytest.mark.parametrize("kind", ["batch norm", "average", "size", "far", "order"])
def test_odd_model_of_nodes_gives_what_the_user_reads_off(kind: str, engine: str) -> None:
    model, full = NodeModel(kind), house()
    data = Data(x=full.x, edge_index=full.edge_index)
    alone = [eigsearch.explain(model, data, node=n, engine=engine) for n in (0, 4, 8)]
    company = eigsearch.explain_dataset(model, data, node=[1, 4, 7], engine=engine)
    with torch.no_grad():
        expected = model(data.x, data.edge_index).softmax(-1)
    for ex in [*alone, *company]:
        assert ex.node is not None
        assert ex.value == pytest.approx(float(expected[ex.node, ex.target]), abs=1e-4)


class SqueezedNodes(NodeModel):
    """Squeezes all it can: what it gives for a single node is no row of a table."""

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return super().forward(x, edge_index).squeeze()


@pytest.mark.parametrize("engine", ["auto", "batched"])
def test_odd_model_that_squeezes_gives_what_the_user_reads_off_next_to_lone_nodes(
    engine: str,
) -> None:
    """Without its only edge, a node is alone in its graph."""
    model = SqueezedNodes("plain")
    edge_index = torch.tensor([[0, 1, 2, 3, 3, 4], [1, 0, 3, 2, 4, 3]])
    data = Data(x=house().x[:5], edge_index=edge_index)
    with torch.no_grad():
        expected = model(data.x, data.edge_index).softmax(-1)
    for node in range(5):
        ex = eigsearch.explain(model, data, node=node, engine=engine)
        assert ex.value == pytest.approx(float(expected[node, ex.target]), abs=1e-4)


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


def in_threads(*jobs: Callable[[], Iterable[Any]]) -> list[Any]:
    """Return what jobs give that run at the same time."""
    ready = threading.Barrier(len(jobs), timeout=60)

    def run(job: Callable[[], Iterable[Any]]) -> list[Any]:
        ready.wait()
        return list(job())

    with ThreadPoolExecutor(len(jobs)) as pool:
        return [found for results in pool.map(run, jobs) for found in results]


def assert_alike_in_threads(model: OddModel, **options: Any) -> None:
    """Change the model, and explain it in threads: alone, in a data set, with both engines."""
    one, two, three = (graph(model, seed) for seed in range(3))
    eigsearch.explain(model, one, **options)
    model.config["scale"] = 0.3
    with torch.no_grad():
        model.head.weight.mul_(-1)
    model.train()
    statistics = {k: v.clone() for k, v in model.named_buffers()}
    found = in_threads(
        lambda: [eigsearch.explain(model, one, **options)],
        lambda: eigsearch.explain_dataset(model, [two, three], **options),
        lambda: eigsearch.explain_dataset(model, [one, two], engine="batched", **options),
    )
    assert all(module.training for module in model.modules())
    assert all(torch.equal(v, statistics[k]) for k, v in model.named_buffers())
    model.eval()
    for ex in found:
        assert_like_own_calls(model, ex)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("body", BODIES)
def test_odd_model_in_threads_and_training_mode_equals_plain_calls(body: str, ending: str) -> None:
    options = {"target": 0} if ending == "regression" else {}
    assert_alike_in_threads(OddModel(body, ending), **options)


@pytest.mark.filterwarnings("ignore:Expected both engines")
@pytest.mark.parametrize("mixer", MIXERS)
@pytest.mark.parametrize("body", ["gin", "sum layer", "by hand"])
def test_odd_model_that_mixes_graphs_in_threads_equals_plain_calls(body: str, mixer: str) -> None:
    assert_alike_in_threads(OddModel(body, "logits", mixer))
