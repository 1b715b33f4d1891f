"""What is remembered of a model: found out once, confirmed at every call, forgotten when wrong."""

from __future__ import annotations

import gc
from typing import Any
from weakref import ref

import pytest
import torch
from torch import Tensor, nn
from torch_geometric import nn as pyg

import eigsearch
from eigsearch.engines import evaluator
from eigsearch.engines.batched.engine import BatchedEngine
from eigsearch.engines.model_memory import Sizes
from tests.engines.test_model_checks import assert_like_own_calls, uneven_graph
from tests.nets import FEATURES


class Switched(nn.Module):
    """Mixes the graphs of a call once a switch that nobody sees is turned."""

    def __init__(self, switch: Any) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.head = pyg.GraphConv(FEATURES, 8), nn.Linear(8, 2)
        self.switch = switch

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        pooled = pyg.global_max_pool(self.conv(x, edge_index).relu(), batch)
        if next(self.switch):
            pooled = pooled / (1 + pooled.sum())
        return 4 * self.head(pooled)


class _Never:
    def __next__(self) -> bool:
        return False


class Hidden:
    """An iterator whose state no fingerprint can read."""

    def __init__(self) -> None:
        self.steps: list[bool] = []
        self.iterator = iter(self.read, None)

    def read(self) -> bool:
        return bool(self.steps)


def count_calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    calls: list[int] = []
    original = BatchedEngine._call

    def counted(self: BatchedEngine, parts: Any) -> Any:
        calls.append(len(parts))
        return original(self, parts)

    monkeypatch.setattr(BatchedEngine, "_call", counted)
    return calls


@pytest.mark.parametrize(("engine", "most"), [("incremental", 1), ("batched", 4)])
def test_recall_of_a_model_seen_before_leaves_one_plain_call_to_confirm(
    monkeypatch: pytest.MonkeyPatch, engine: str, most: int
) -> None:
    model = Switched(_Never()).eval()
    first = eigsearch.explain(model, uneven_graph(1), engine=engine)
    calls = count_calls(monkeypatch)
    again = eigsearch.explain(model, uneven_graph(1), engine=engine)
    assert len(calls) <= most
    assert torch.equal(first.edge_score, again.edge_score)


@pytest.mark.parametrize("engine", ["incremental", "batched"])
@pytest.mark.filterwarnings("ignore:Expected both engines")
def test_recall_of_a_model_that_changed_unseen_is_contradicted_by_a_call(engine: str) -> None:
    hidden = Hidden()
    model = Switched(hidden.iterator).eval()
    data = uneven_graph(2)
    assert_like_own_calls(model, eigsearch.explain(model, data, engine=engine))
    hidden.steps.append(True)
    assert_like_own_calls(model, eigsearch.explain(model, data, engine=engine))


def test_recall_of_much_larger_graphs_finds_out_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Switched(_Never()).eval()
    looked: list[int] = []
    original = evaluator.model_traits
    monkeypatch.setattr(
        evaluator, "model_traits", lambda *given: looked.append(1) or original(*given)
    )
    small = uneven_graph(0).subgraph(torch.arange(6))
    for data in (small, small, uneven_graph(0), uneven_graph(1)):
        eigsearch.explain(model, data, engine="batched")
    assert len(looked) == 2


def test_recall_does_not_keep_a_model_alive() -> None:
    model = Switched(_Never()).eval()
    eigsearch.explain(model, uneven_graph(0))
    gone = ref(model)
    del model
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize(
    ("smallest", "largest", "expected"),
    [(10, 40, True), (5, 80, True), (4, 40, False), (10, 81, False)],
)
def test_sizes_cover_graphs_up_to_twice_as_large_or_small(
    smallest: int, largest: int, expected: bool
) -> None:
    assert Sizes(10, 40).cover(smallest, largest) is expected
