"""The contract of `Method`, kept by every registered explainer."""

from __future__ import annotations

import copy
import random
from functools import cache
from itertools import product
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import GATConv, GINConv, global_mean_pool

import eigsearch
from eigsearch import explainers
from eigsearch._utils.fingerprint import held_digest
from eigsearch.errors import EigsearchError, UnsupportedError
from eigsearch.explainers import Method
from eigsearch.explainers.registry import method_class

NAMES = explainers.names()
TRAINED = [name for name in NAMES if method_class(name).card.trains]
FEATURES, WIDTH, SEED = 3, 8, 0
LAYER_NEEDS = {  # what a model of GIN or of GAT layers may lack
    "attention layers",
    "known layers",
    "element-wise activations",
    "linear maps, ReLUs, sums and means",
}


def gin(inputs: int, outputs: int) -> nn.Module:
    return GINConv(
        nn.Sequential(nn.Linear(inputs, outputs), nn.ReLU(), nn.Linear(outputs, outputs))
    )


def gat(inputs: int, outputs: int) -> nn.Module:
    return GATConv(inputs, outputs // 2, heads=2)


class Net(nn.Module):
    """Two layers with dropout between them, for graphs or nodes."""

    def __init__(self, conv: Any = gin, task: str = "graph") -> None:
        super().__init__()
        torch.manual_seed(SEED)
        self.task = task
        self.convs = nn.ModuleList([conv(FEATURES, WIDTH), conv(WIDTH, WIDTH)])
        self.dropout = nn.Dropout(0.5)
        self.head = nn.Linear(WIDTH, 2)
        self._balance()

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
        for conv in self.convs:
            x = self.dropout(conv(x, edge_index).relu())
        return self.head(global_mean_pool(x, batch) if self.task == "graph" else x)

    @torch.no_grad()
    def _balance(self) -> None:
        """Shift the outputs so that both classes are predicted among the training graphs."""
        self.eval()
        rows = torch.cat([self(data.x, data.edge_index) for data in training_graphs()])
        self.head.bias -= rows.mean(dim=0)
        self.train()


class Watched(nn.Dropout):
    """Dropout that notes for all its copies in which mode they run."""

    modes: ClassVar[list[bool]] = []

    def forward(self, input: Tensor) -> Tensor:
        self.modes.append(self.training)
        return super().forward(input)


class Unusual(nn.Module):
    """A network that takes a pair, and so needs `forward=`."""

    def __init__(self, net: Net) -> None:
        super().__init__()
        self.net = net

    def forward(self, pair: tuple[Tensor, Tensor], batch: Tensor) -> Tensor:
        return self.net(*pair, batch)


class Breaks(Net):
    """A network that fails after some calls."""

    def __init__(self, calls: int, task: str = "graph") -> None:
        self.left = [1_000]  # enough to be built
        super().__init__(task=task)
        self.left = [calls]

    def __deepcopy__(self, memo: dict[int, Any]) -> Breaks:
        twin = Breaks(0, self.task)
        twin.load_state_dict(self.state_dict())
        twin.train(self.training)
        twin.left = self.left  # copies fail with the original
        return twin

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
        self.left[0] -= 1
        if self.left[0] < 0:
            raise RuntimeError("the model is broken")
        return super().forward(x, edge_index, batch)


def graph(pairs: list[tuple[int, int]], num_nodes: int, undirected: bool = True) -> Data:
    generator = torch.Generator().manual_seed(len(pairs))
    edge_index = torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).t().contiguous()
    if undirected:
        loops = edge_index[0] == edge_index[1]
        edge_index = torch.cat([edge_index, edge_index[:, ~loops].flip(0)], dim=1)
    x = torch.randn(num_nodes, FEATURES, generator=generator)
    return Data(x=x, edge_index=edge_index)


def tailed() -> Data:
    """A triangle with a tail."""
    return graph([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)], 5)


ODD = {
    "self-loop": graph([(0, 1), (1, 1), (1, 2), (2, 0)], 3),
    "self-loops everywhere": graph([(0, 0), (0, 1), (1, 1), (1, 2), (2, 2)], 3),
    "parallel": graph([(0, 1), (0, 1), (1, 2)], 3),
    "isolated nodes": graph([(1, 2), (2, 4)], 6),
    "one edge": graph([(0, 1)], 2),
    "two edges": graph([(0, 1), (1, 2)], 3),
    "directed": graph([(0, 1), (1, 2), (2, 3), (0, 2)], 4, undirected=False),
    "no edge": graph([], 3),
}


def training_graphs() -> list[Data]:
    """Return some graphs that differ in structure and in the sign of their features."""
    ring = graph([(0, 1), (1, 2), (2, 3), (3, 0)], 4)
    return [tailed(), ring, graph([(0, 1), (1, 2)], 4), Data(x=-ring.x, edge_index=ring.edge_index)]


def make(name: str) -> Method:
    return explainers.get(name, **method_class(name).cheap_options)


def conv_for(name: str) -> Any:
    return gat if name == "att" else gin


@cache
def fitted(name: str, task: str) -> Method:
    """Return the method, trained where it trains, for the network of its task."""
    method = make(name)
    method.fit(Net(conv_for(name), task).eval(), training_graphs())
    return method


def tasks(name: str) -> tuple[str, ...]:
    """Return the tasks that a method has of graphs and nodes; links have a suite of their own."""
    return tuple(task for task in method_class(name).card.tasks if task != "link")


def explained_node(task: str) -> int | None:
    return 2 if task == "node" else None


def check(method: Method, score: Tensor, data: Data) -> None:
    expected = data.num_edges if method.level == "edge" else data.num_nodes
    assert score.shape == (expected,)
    assert score.is_floating_point()
    assert not score.requires_grad
    assert bool(torch.isfinite(score).all())


def snapshot(model: nn.Module) -> list[Any]:
    """Return all that an explainer could leave behind on a model."""
    state: list[Any] = [(k, v.clone()) for k, v in model.state_dict().items()]
    for module in model.modules():
        plain = {k: v for k, v in vars(module).items() if isinstance(v, (bool, int, float, str))}
        state.append((plain, sorted(vars(module)), sorted(module._parameters)))
        state.append([len(v) for k, v in sorted(vars(module).items()) if k.endswith("_hooks")])
        state.append((getattr(module, "explain", None), getattr(module, "_edge_mask", None)))
    return state + [(p.requires_grad, p.grad) for p in model.parameters()]


def same(one: Any, two: Any) -> bool:
    if isinstance(one, Tensor):
        return isinstance(two, Tensor) and torch.equal(one, two)
    if isinstance(one, (list, tuple)):
        return len(one) == len(two) and all(same(a, b) for a, b in zip(one, two, strict=True))
    return one == two


ALL_TASKS = [(name, task) for name in NAMES for task in tasks(name)]


@pytest.mark.parametrize(("name", "task"), ALL_TASKS)
def test_scores_are_finite_and_both_directions_share_them(name, task):
    data, method = tailed(), fitted(name, task)
    score = method.rank(Net(conv_for(name), task).eval(), data, 0, explained_node(task))
    check(method, score, data)
    if method.level == "edge":
        of = {tuple(e): s for e, s in zip(data.edge_index.T.tolist(), score.tolist(), strict=True)}
        assert all(of[u, v] == of[v, u] for u, v in of)


@pytest.mark.parametrize("name", [name for name in NAMES if "graph" in tasks(name)])
@pytest.mark.parametrize("odd", ODD)
def test_odd_graphs_have_scores(name, odd):
    method, data = fitted(name, "graph"), ODD[odd]
    check(method, method.rank(Net(conv_for(name)).eval(), data, 1, None), data)


@pytest.mark.parametrize("name", [name for name in NAMES if "node" in tasks(name)])
@pytest.mark.parametrize("odd", ["self-loop", "isolated nodes", "one edge", "no edge"])
def test_odd_graphs_have_scores_for_a_node(name, odd):
    method, data = fitted(name, "node"), ODD[odd]
    check(method, method.rank(Net(conv_for(name), "node").eval(), data, 1, 0), data)


@pytest.mark.parametrize(("name", "task"), ALL_TASKS)
def test_the_same_seed_gives_the_same_answer_and_disturbs_nobody(name, task):
    data, node = tailed(), explained_node(task)
    answers = []
    for noise in (1, 2):
        torch.manual_seed(noise), np.random.seed(noise), random.seed(noise)
        before = torch.random.get_rng_state(), random.getstate(), np.random.get_state()[1].tolist()
        model, method = Net(conv_for(name), task).eval(), make(name)
        torch.random.set_rng_state(before[0])  # making the network has used it
        method.fit(model, training_graphs())
        answers.append(method.rank(model, data, 0, node))
        after = torch.random.get_rng_state(), random.getstate(), np.random.get_state()[1].tolist()
        assert torch.equal(before[0], after[0])
        assert before[1:] == after[1:]
    assert torch.equal(*answers)


@pytest.mark.parametrize(("name", "task"), ALL_TASKS)
def test_model_and_data_are_left_as_they_were(name, task):
    data, method = tailed(), make(name)
    model = Net(conv_for(name), task).train()
    before, copied = snapshot(model), copy.deepcopy(data)
    method.fit(model, [data, *training_graphs()])
    score = method.rank(model, data, 0, explained_node(task))
    assert same(before, snapshot(model))
    assert data.keys() == copied.keys()
    assert all(torch.equal(data[key], copied[key]) for key in data.keys())  # noqa: SIM118
    still = method.rank(model.eval(), data, 0, explained_node(task))
    assert torch.equal(score, still)  # dropout was off although the model was in training


@pytest.mark.parametrize(("name", "task"), [each for each in ALL_TASKS if each[0] != "random"])
def test_a_model_is_only_ever_run_in_evaluation_mode(name, task):
    model, method = Net(conv_for(name), task), make(name)
    model.dropout = Watched(0.5)
    Watched.modes.clear()
    method.fit(model, training_graphs())
    method.rank(model, tailed(), 0, explained_node(task))
    assert Watched.modes
    assert not any(Watched.modes)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "random"])
def test_model_and_data_are_left_as_they_were_when_the_model_breaks(name):
    data, task, broken = tailed(), tasks(name)[0], 0
    for calls, trained in product((0, 1, 2, 4), (True, False)):
        model = Breaks(calls, task).train()
        before, copied = snapshot(model), copy.deepcopy(data)
        try:
            if trained:
                fitted(name, task).rank(model, data, 0, explained_node(task))
            else:
                make(name).fit(model, training_graphs())
        except RuntimeError as error:
            broken += "the model is broken" in str(error)
        assert same(before, snapshot(model))
        assert torch.equal(data.x, copied.x)
        assert torch.equal(data.edge_index, copied.edge_index)
    assert broken or name == "att"  # attention layers are asked for before anything is called


@pytest.mark.parametrize("task", ["graph", "node"])
@pytest.mark.parametrize("conv", [gin, gat])
def test_no_explainer_changes_what_another_one_says(conv, task):
    model, data, node = Net(conv, task).eval(), tailed(), explained_node(task)
    methods, names = {}, [name for name in NAMES if task in tasks(name)]
    for name in names:
        method, net = make(name), Net(conv, task).eval()
        try:
            method.fit(net, training_graphs())
            methods[name] = method, method.rank(net, data, 0, node)
        except UnsupportedError:
            continue
    refusing = [name for name in names if name not in methods]
    assert all(LAYER_NEEDS & {*method_class(name).card.needs} for name in refusing), refusing
    # There and back: each comes after every other one, and after itself.
    for name in [*methods, *reversed(methods)]:
        method, expected = methods[name]
        assert torch.equal(method.rank(model, data, 0, node), expected), name


@pytest.mark.parametrize(("name", "task"), ALL_TASKS)
def test_the_search_runs_on_top(name, task):
    data, model = tailed(), Net(conv_for(name), task).eval()
    node = explained_node(task)
    searched = eigsearch.explain(model, data, node=node, ranker=fitted(name, task), sparsity=0.3)
    assert 1 <= searched.size <= 4
    assert searched.gain == pytest.approx(float(searched.curve.gain.max()), abs=1e-6)
    fixed = eigsearch.explain(
        model, data, node=node, ranker=fitted(name, task), search=None, size=searched.size
    )
    assert torch.equal(fixed.edge_mask, searched.edge_mask)


@pytest.mark.parametrize(("name", "task"), [pair for pair in ALL_TASKS if pair[0] in TRAINED])
def test_an_unusual_signature_is_trained_and_explained_like_the_usual_one(name, task):
    def call(model: Unusual, batch: Any) -> Tensor:
        return model((batch.x, batch.edge_index), batch.batch)

    data, node, unusual = tailed(), explained_node(task), make(name)
    usual = eigsearch.explain(Net(task=task), data, node=node, ranker=fitted(name, task))
    model = Unusual(Net(task=task))
    with pytest.raises(EigsearchError, match="forward="):
        unusual.fit(model, training_graphs())
    unusual.fit(model, training_graphs(), forward=call)
    found = eigsearch.explain(model, data, node=node, ranker=unusual, forward=call)
    assert torch.allclose(usual.score, found.score, atol=1e-6)


@pytest.mark.parametrize(("name", "task"), [pair for pair in ALL_TASKS if pair[0] in TRAINED])
def test_what_has_to_be_trained_says_so(name, task):
    with pytest.raises(EigsearchError, match="fit"):
        make(name).rank(Net(task=task).eval(), tailed(), 0, explained_node(task))


@pytest.mark.parametrize("name", [n for n in NAMES if len(tasks(n)) == 1])
def test_a_task_that_a_method_does_not_have_is_refused(name):
    (task,) = {"graph", "node"} - set(tasks(name))
    with pytest.raises(UnsupportedError):
        make(name).rank(Net(conv_for(name), task).eval(), tailed(), 0, explained_node(task))


@pytest.mark.parametrize("name", TRAINED)
def test_what_was_trained_is_known_by_its_weights(name):
    one, same, other = make(name), make(name), make(name)
    task = tasks(name)[0]
    for method, graphs in zip((one, same, other), (0, 0, 1), strict=True):
        method.fit(Net(task=task).eval(), training_graphs()[graphs:])
    before = held_digest(one)
    one.rank(Net(task=task).eval(), tailed(), 0, explained_node(task))
    assert before == held_digest(one) == held_digest(same) != held_digest(other)
