from __future__ import annotations

import random
import threading
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GraphConv, global_add_pool

import eigsearch
from eigsearch.errors import ModelError
from eigsearch.inference.model_call import ModelCall
from eigsearch.inference.random_numbers import (
    check_repeats,
    draws_itself,
    generator_state,
    generator_states,
)
from tests.nets import FEATURES, house


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.head = GraphConv(FEATURES, 4), nn.Linear(4, 3)
        self.double().eval()

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return self.head(global_add_pool(self.conv(x, edge_index).tanh(), batch))


class DrawsForSmallGraphs(Net):
    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        out = super().forward(x, edge_index, batch)
        return out + torch.randn_like(out) if len(x) < 6 else out


class DrawsALittle(Net):
    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        out = super().forward(x, edge_index, batch)
        return out + 3e-4 * torch.randn_like(out)


class LeavesOutAnEdge(Net):
    """Gives one of so few outputs that two of them are often the same."""

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        kept = torch.randperm(edge_index.size(1))[int(torch.rand(()) < 0.5) :]
        return super().forward(x, edge_index[:, kept.sort().values], batch)


class Tosses(Net):
    """Doubles what it reads out, or not."""

    def __init__(self, toss: Callable[[], float]) -> None:
        super().__init__()
        self.toss = toss

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return super().forward(x, edge_index, batch) * (1 + (self.toss() < 0.5))


class Seeded(Net):
    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        torch.manual_seed(5)
        return super().forward(x + 0.1 * torch.randn_like(x), edge_index, batch)


class DrawsInVain(Net):
    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        torch.rand(3)
        return super().forward(x, edge_index, batch)


class InPlace(DrawsInVain):
    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        x *= 2
        return super().forward(x, edge_index, batch)


def graph() -> Data:
    data = house()
    return Data(x=data.x, edge_index=data.edge_index)


@pytest.mark.parametrize("engine", ["auto", "batched"])
@pytest.mark.parametrize("model", [DrawsForSmallGraphs, DrawsALittle, LeavesOutAnEdge])
def test_explain_model_that_draws_random_numbers_is_refused(
    model: type[nn.Module], engine: str
) -> None:
    random = model()
    torch.manual_seed(3)
    with pytest.raises(ModelError, match=r"same output twice .*Switch off dropout"):
        eigsearch.explain(random, graph(), engine=engine)


@pytest.mark.parametrize("engine", ["auto", "incremental", "batched"])
@pytest.mark.parametrize("toss", [random.random, np.random.rand, lambda: float(torch.rand(()))])
def test_explain_model_that_tosses_a_coin_is_refused_also_where_it_falls_alike(
    toss: Callable[[], float], engine: str
) -> None:
    for seed in range(8):  # of which some have two tosses alike
        torch.manual_seed(seed)
        random.seed(seed)
        np.random.seed(seed)
        with pytest.raises(ModelError, match="same output twice"):
            eigsearch.explain(Tosses(toss), graph(), engine=engine)


@pytest.mark.parametrize("model", [Seeded, DrawsInVain, InPlace])
def test_explain_model_whose_random_numbers_do_not_matter_equals_plain_calls(
    model: type[nn.Module],
) -> None:
    net, data = model(), graph()
    with torch.no_grad():
        plain = net(data.x.clone(), data.edge_index, torch.zeros(9, dtype=torch.long)).softmax(1)
    ex = eigsearch.explain(net, data)
    assert ex.value == pytest.approx(float(plain[0, ex.target]), abs=1e-6)


def in_another_thread(draw: Callable[[], object]) -> None:
    thread = threading.Thread(target=draw)
    thread.start()
    thread.join(timeout=60)


class Meanwhile(Net):
    """Draws nothing, but another thread does during its first calls."""

    def __init__(self, draw: Callable[[], object], times: int) -> None:
        super().__init__()
        self.draw, self.times = draw, iter(range(times))

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        if next(self.times, None) is not None:
            in_another_thread(self.draw)
        return super().forward(x, edge_index, batch)


def test_explain_torch_in_another_thread_is_not_the_models() -> None:
    model = Meanwhile(lambda: torch.rand(3), times=1000)
    ex = eigsearch.explain(model, graph(), engine="incremental")
    assert "random numbers" not in ex.note + ex.config["why_engine"]


@pytest.mark.parametrize("draw", [random.random, np.random.rand, lambda: torch.rand(3)])
def test_without_traces_one_draw_of_another_thread_is_not_the_models(
    draw: Callable[[], object],
) -> None:
    call = ModelCall(Meanwhile(draw, times=1))
    call.without_traces(Batch.from_data_list([graph()]))
    assert not call.draws_numbers


@pytest.mark.parametrize(
    "draw", [random.random, np.random.rand, lambda: torch.rand(3), lambda: torch.randperm(9)]
)
def test_draws_itself_call_that_draws_is_true(draw: Callable[[], object]) -> None:
    assert draws_itself(draw)


def test_draws_itself_torch_in_another_thread_is_false() -> None:
    assert not draws_itself(lambda: in_another_thread(lambda: torch.rand(3)))


class ChangesItsBatch(nn.Module):
    """Replaces the features by those of another width, so that it cannot take its batch again."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.wide, self.net = nn.Linear(FEATURES, FEATURES - 1).double(), Net()
        self.back = nn.Linear(FEATURES - 1, FEATURES).double()

    def forward(self, data: Data) -> Tensor:
        data.x = self.wide(data.x)
        noise = 3e-4 * torch.randn(1, dtype=torch.double)
        return self.net(self.back(data.x), data.edge_index, data.batch) + noise


def test_explain_model_that_changes_its_batch_and_draws_is_refused() -> None:
    with pytest.raises(ModelError, match="same output twice"):
        eigsearch.explain(ChangesItsBatch(), graph())


def test_generator_state_changes_with_each_draw_of_torch() -> None:
    before = generator_state()
    assert generator_state() == before
    torch.rand(1)
    assert generator_state() != before


@pytest.mark.parametrize("draw", [random.random, np.random.rand, lambda: torch.rand(1)])
def test_generator_states_change_with_each_draw_of_any(draw: Callable[[], object]) -> None:
    before = generator_states()
    assert generator_states() == before
    draw()
    assert generator_states() != before


@pytest.mark.parametrize(
    ("again", "words"),
    [
        (torch.tensor([[1.0, 2.0], [3.0, 5.0]]), r"\[3, 4\] and \[3, 5\]"),
        (torch.tensor([[1.0, 2.0]]), r"shape \[2, 2\] and shape \[1, 2\]"),
    ],
)
def test_check_repeats_names_what_differs(again: Tensor, words: str) -> None:
    first = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    check_repeats(first, first + 1e-7)
    with pytest.raises(ModelError, match=words):
        check_repeats(first, again)


def test_check_repeats_takes_numbers_of_any_shape_and_type() -> None:
    check_repeats(torch.tensor(1.0), torch.tensor(1.0))
    with pytest.raises(ModelError, match=r"\[1\] and \[0\]"):
        check_repeats(torch.tensor(True), torch.tensor(False))
