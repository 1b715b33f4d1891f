"""Explaining leaves model and data exactly as they were, whatever happens on the way."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.explain import Explainer
from torch_geometric.nn import GCNConv, SGConv, global_add_pool, global_mean_pool
from torch_geometric.utils import degree

import eigsearch
from eigsearch.candidates import LeaveOneOut
from eigsearch.engines import Request
from eigsearch.engines.incremental import IncrementalEngine
from eigsearch.errors import ModelError
from eigsearch.inference.eval_mode import eval_mode
from eigsearch.inference.model_call import ModelCall
from tests.instances import prepare_graph
from tests.nets import FEATURES, WIDTH, house


class Delicate(nn.Module):
    """Has everything that careless code disturbs: dropout, statistics, caches, hooks, gradients."""

    def __init__(self, pool: bool) -> None:
        super().__init__()
        self.first = GCNConv(FEATURES, WIDTH, cached=True)
        self.norm = nn.BatchNorm1d(WIDTH)
        self.dropout = nn.Dropout(0.5)
        self.second = SGConv(WIDTH, 3, K=1, cached=True)
        self.pool = pool
        self.calls_left: list[int] = []  # until it fails; in a list, runs on states count too

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
        if self.calls_left:
            self.calls_left[0] -= 1
            if self.calls_left[0] < 0:
                raise KeyError("inside the model")
        x = self.dropout(self.norm(self.first(x, edge_index)).relu())
        x = self.second(x, edge_index)
        return global_mean_pool(x, batch) if self.pool else x


def plain() -> Data:
    data = house()
    return Data(x=data.x, edge_index=data.edge_index, y=torch.tensor([1]), name="a house")


def delicate(pool: bool) -> Delicate:
    """Return a model in the middle of its training, with full caches and mixed flags."""
    torch.manual_seed(0)
    model = Delicate(pool).double().train()
    data = plain()
    model(data.x, data.edge_index).sum().backward()
    model.norm.eval()  # as one does to freeze statistics
    model.second.register_forward_hook(lambda module, args, out: None)
    model.first.lin.weight.requires_grad_(False)
    return model


def state_of(model: nn.Module) -> dict[str, Any]:
    """Return all that can be seen of a model, without the counter of the test itself."""
    seen: dict[str, Any] = {"tensors": {k: v.clone() for k, v in model.state_dict().items()}}
    for name, module in model.named_modules():
        seen[f"{name} training"] = module.training
        seen[f"{name} hooks"] = list(module._forward_hooks) + list(module._forward_pre_hooks)
        seen[f"{name} attributes"] = sorted(vars(module))
        for key, value in vars(module).items():
            if key.startswith(("_cached", "cached", "_explain", "_edge_mask")):
                seen[f"{name} {key}"] = value
    for name, parameter in model.named_parameters():
        seen[f"{name} grad"] = None if parameter.grad is None else parameter.grad.clone()
        seen[f"{name} requires_grad"] = parameter.requires_grad
    return seen


def assert_same_state(before: Any, after: Any) -> None:
    if isinstance(before, Tensor):
        assert torch.equal(before, after)
    elif isinstance(before, dict):
        assert before.keys() == after.keys()
        for key in before:
            assert_same_state(before[key], after[key])
    elif isinstance(before, tuple):
        assert len(before) == len(after)
        for one, other in zip(before, after, strict=True):
            assert_same_state(one, other)
    else:
        assert before == after


Explain = Callable[[nn.Module, Data], Any]


def graph(model: nn.Module, data: Data) -> Any:
    return eigsearch.explain(model, data, engine="batched")


def graph_auto(model: nn.Module, data: Data) -> Any:
    return eigsearch.explain(model, data)


def node(model: nn.Module, data: Data) -> Any:
    return eigsearch.explain(model, data, node=2)


def dataset(model: nn.Module, data: Data) -> Any:
    return list(eigsearch.explain_dataset(model, [data, data]))


def half_a_dataset(model: nn.Module, data: Data) -> Any:
    return next(eigsearch.explain_dataset(model, [data] * 40))


WAYS = [graph, graph_auto, node, dataset, half_a_dataset]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("fails_after", [None, 0, 1, 2, 3])
def test_model_and_data_are_untouched(way: Explain, fails_after: int | None) -> None:
    model = delicate(pool=way is not node)
    data = plain()
    before, shown, keys = state_of(model), data.clone(), set(vars(data._store))
    tensors = {key: id(value) for key, value in data.items()}
    model.calls_left = [] if fails_after is None else [fails_after]
    random = torch.get_rng_state()
    if fails_after is None:
        way(model, data)
    else:
        with pytest.raises((KeyError, ModelError), match="inside the model"):
            way(model, data)
    assert_same_state(before, state_of(model))
    assert torch.equal(random, torch.get_rng_state())
    assert torch.is_grad_enabled()
    assert {key: id(value) for key, value in data.items()} == tensors
    assert set(vars(data._store)) == keys
    assert torch.equal(data.x, shown.x)
    assert torch.equal(data.edge_index, shown.edge_index)


def empty_caches(model: Delicate) -> None:
    for layer in (model.first, model.second):
        layer.cached = False
        for name in [key for key in vars(layer) if key.startswith("_cached")]:
            setattr(layer, name, None)


def test_eval_mode_cache_of_another_graph_is_not_used() -> None:
    """A cached layer that saw one graph still explains another one right."""
    fresh, used = delicate(pool=True), delicate(pool=True)
    empty_caches(fresh)
    other = plain()
    other.edge_index = other.edge_index[:, [0, 9, 1, 10, 2, 11, 3, 12]]
    one, two = (eigsearch.explain(model, other) for model in (fresh, used))
    torch.testing.assert_close(one.edge_score, two.edge_score)
    assert float(one.edge_score.abs().max()) > 0


def test_eval_mode_in_pyg_explainer_leaves_weights_caches_hooks_and_data_alone() -> None:
    model, data = delicate(pool=True), plain()
    model.train()  # PyG's Explainer itself knows one flag for the whole model
    empty_caches(model)
    before = state_of(model)
    explainer = Explainer(
        model,
        algorithm=eigsearch.EiGSearch(),
        explanation_type="model",
        edge_mask_type="object",
        model_config={
            "mode": "multiclass_classification",
            "task_level": "graph",
            "return_type": "raw",
        },
    )
    x, edge_index = data.x.clone(), data.edge_index.clone()
    explainer(data.x, data.edge_index)
    assert_same_state(before, state_of(model))
    assert torch.equal(data.x, x)
    assert torch.equal(data.edge_index, edge_index)


@pytest.mark.parametrize("task", ["auto", "regression"])
def test_results_are_ordinary_tensors(task: str) -> None:
    model = delicate(pool=True)
    ex = eigsearch.explain(model, plain(), target=0, task=task)
    columns = [ex.curve.kept, ex.curve.removed, ex.curve.fidelity_plus, ex.found.kept]
    for tensor in [ex.edge_score, ex.edge_mask, ex.score, ex.keep, ex.order, *columns]:
        assert not tensor.is_inference()
        assert not tensor.requires_grad


def test_features_that_need_a_gradient_are_welcome() -> None:
    data = plain()
    data.x.requires_grad_(True)
    ex = eigsearch.explain(delicate(pool=True), data)
    assert data.x.grad is None
    assert not ex.score.requires_grad


class Notes(nn.Module):
    """Makes a constant by itself, and notes down what it computed."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = GCNConv(FEATURES, WIDTH)
        self.head = nn.Linear(WIDTH, 3)
        self.calls = 0

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
        self.calls += 1
        self.embedding = self.conv(x * torch.tensor([2.0]), edge_index).tanh()
        return self.head(global_mean_pool(self.embedding, batch))


def test_eval_mode_run_on_states_leaves_nothing_behind() -> None:
    model, data = Notes().double().eval(), plain()
    model(data.x, data.edge_index)
    names, note = set(vars(model)), model.embedding
    engine = IncrementalEngine(ModelCall(model))
    instance = prepare_graph(data, "auto")
    engine.outputs([Request(instance, LeaveOneOut(instance.groups.count))])
    assert model.embedding is note
    assert model.calls == 1
    assert set(vars(model)) == names
    once = eigsearch.explain(model, data, engine="incremental")
    assert once.engine == "incremental"
    again = eigsearch.explain(model, data, engine="batched")
    torch.testing.assert_close(once.edge_score, again.edge_score)


class InPlace(nn.Module):
    """Overwrites the features that it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = GCNConv(FEATURES, 3)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return global_mean_pool(self.conv(x.relu_(), edge_index), batch)


@pytest.mark.parametrize("engine", ["incremental", "batched"])
def test_eval_mode_model_that_works_in_place_does_so_on_copies(engine: str) -> None:
    data, model = plain(), InPlace().double()
    before = data.x.clone()
    eigsearch.explain(model, data, engine=engine)
    assert bool((before < 0).any())
    assert torch.equal(data.x, before)


class Remembering(nn.Module):
    """Keeps the degrees of the first graph, counts calls, renormalises an embedding."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.kinds = nn.Embedding(4, 5, max_norm=0.1)
        self.steps: Tensor
        self.register_buffer("steps", torch.zeros(1))
        self.degrees: Tensor | None = None
        self.calls = 0

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        self.calls += 1
        self.steps.add_(1)
        if self.degrees is None:
            self.degrees = degree(edge_index[1], x.size(0))
        x = self.degrees[:, None] + self.kinds(batch * 0)
        return global_add_pool(x, batch)[:, :2]


@pytest.mark.parametrize("engine", ["incremental", "batched"])
def test_eval_mode_of_a_model_that_caches_by_hand_computes_every_candidate(engine: str) -> None:
    model, data = Remembering(), plain()
    weights = model.kinds.weight.detach().clone()
    ex = eigsearch.explain(model, data, engine=engine, return_type="raw")
    assert (model.degrees, model.calls, float(model.steps)) == (None, 0, 0.0)
    assert torch.equal(model.kinds.weight, weights)
    part = ex.subgraph()
    output = model(part.x, part.edge_index, torch.zeros(part.num_nodes, dtype=torch.long))
    assert float(ex.found.kept) == pytest.approx(float(output.softmax(-1)[0, ex.target]), abs=1e-6)


def test_eval_mode_in_threads_leaves_a_training_model_as_it_was() -> None:
    model = nn.Sequential(nn.Dropout(0.5), nn.BatchNorm1d(3)).train()
    inside = threading.Barrier(4, timeout=60)
    seen: list[bool] = []

    def use() -> None:
        with eval_mode(model):
            inside.wait()
            seen.append(any(module.training for module in model.modules()))

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert seen == [False] * 4
    assert all(module.training for module in model.modules())
