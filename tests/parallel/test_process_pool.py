"""Processes give the rows of one process, whatever happens to them."""

from __future__ import annotations

import contextlib
import os
import random
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
import torch

import eigsearch
from eigsearch import Options
from eigsearch.datasets import generate
from eigsearch.errors import EigsearchError, ModelError
from eigsearch.parallel import Progress, explain_to, perform, process_pool
from eigsearch.parallel.pickling import pack, unpack
from tests.parallel.networks import Choosy, Deadly, Slow, Small, Truncated
from tests.parallel.test_run_to_directory import broken, row_bytes

GRAPHS = generate("BA-2Motifs").graphs[490:510]


@dataclass(frozen=True)
class Tell:
    """A job that tells who does it, how often it was opened, and what it was given."""

    refuse: bool = False

    def open(self):
        if self.refuse:
            raise EigsearchError("Expected something else.")
        opened = os.times().elapsed
        return lambda shard: (shard, os.getpid(), opened, torch.get_num_threads())


def test_every_shard_comes_back_once_from_workers_that_load_once() -> None:
    results = list(perform(Tell(), range(40), workers=2))
    assert sorted(shard for shard, *_ in results) == list(range(40))
    processes = {pid for _, pid, _, _ in results}
    assert os.getpid() not in processes
    assert len({(pid, opened) for _, pid, opened, _ in results}) == len(processes) <= 2
    assert {threads for *_, threads in results} == {1}


def test_shards_larger_than_a_pipe_do_not_wait_for_results_larger_than_a_pipe() -> None:
    shards = [bytes([number]) * 2_000_000 for number in range(9)]
    found: list[bytes] = []

    def run() -> None:
        found.extend(shard for shard, *_ in perform(Tell(), shards, workers=2))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(timeout=600)  # a busy machine needs long to import torch
    assert sorted(found) == shards


def test_a_job_that_cannot_start_says_why() -> None:
    with pytest.raises(EigsearchError, match=r"Expected something else\."):
        list(perform(Tell(refuse=True), range(3), workers=2))


def test_rows_are_those_of_one_process(tmp_path: Path) -> None:
    graphs = broken(3) * 2
    explain_to(tmp_path / "one", Choosy(), graphs, shard_size=3)
    explain_to(tmp_path / "two", Choosy(), graphs, shard_size=3, workers=2)
    assert row_bytes(tmp_path / "one") == row_bytes(tmp_path / "two")


class Killer:
    """Kills workers of this process without grace, one at a time, at random moments of a run."""

    def __init__(self, times: int, shards: int, seed: int) -> None:
        self.rng = random.Random(seed)
        self.moments = set(self.rng.sample(range(1, shards), times))
        self.calls = self.due = self.killed = 0

    def __call__(self, _: Progress) -> None:
        self.due += self.calls in self.moments
        self.calls += 1
        if self.killed < self.due:
            time.sleep(self.rng.uniform(0, 0.05))  # the workers go on meanwhile
            self.kill()

    def kill(self) -> None:
        workers = living_workers()
        if workers:  # what the dead had sent may come after their death; the next call will do
            chosen = self.rng.choice(workers)
            chosen.kill()
            chosen.wait(600)
            self.killed += 1


def living_workers() -> list[psutil.Process]:
    """The worker processes that a fork server of this process started and that still run."""
    found = []
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if is_server(child.parent()) and child.status() != psutil.STATUS_ZOMBIE:
                found.append(child)
    return found


def is_server(process: psutil.Process | None) -> bool:
    return process is not None and "forkserver" in " ".join(process.cmdline())


def test_ten_workers_killed_lose_no_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_pool, "_DEATHS", 11)  # all ten may die of the same shard
    graphs = GRAPHS * 8
    killer = Killer(times=10, shards=30, seed=1)
    explain_to(tmp_path / "calm", Slow(), graphs, shard_size=4)
    explain_to(tmp_path / "wild", Slow(), graphs, shard_size=4, workers=2, progress=killer)
    assert killer.killed == 10
    assert row_bytes(tmp_path / "wild") == row_bytes(tmp_path / "calm")


@pytest.mark.parametrize(("model", "advice"), [(Deadly, "more memory"), (Truncated, "truncated")])
def test_a_shard_that_kills_every_worker_stops_the_run(
    tmp_path: Path, model: type[Deadly], advice: str
) -> None:
    known = Options(task="multiclass", return_type="raw")  # so that no worker is asked first
    with pytest.raises(ModelError, match=f"survive its shard .* {advice}"):
        explain_to(tmp_path / "out", model(), GRAPHS[:2], shard_size=1, workers=2, options=known)


def test_a_graph_is_packed_without_the_data_set_it_was_sliced_from() -> None:
    whole = torch.zeros(1_000_000)
    assert len(pack({"x": whole[:10]})) < 1_000
    assert torch.equal(unpack(pack({"x": whole[:10]}))["x"], whole[:10])


@pytest.mark.parametrize(
    "tensor",
    [
        torch.arange(6).reshape(2, 3).t(),
        torch.tensor(1.5),
        torch.zeros(0, 2, dtype=torch.bool),
        torch.ones(2, dtype=torch.bfloat16),
        torch.eye(2).to_sparse(),
        torch.nn.Parameter(torch.ones(2)),
    ],
)
def test_every_kind_of_tensor_survives_packing(tensor: torch.Tensor) -> None:
    again = unpack(pack(tensor))
    assert type(again) is type(tensor)
    assert again.dtype == tensor.dtype
    assert torch.equal(again.to_dense(), tensor.to_dense())


def test_no_worker_starts_where_nothing_is_left(tmp_path: Path) -> None:
    explain_to(tmp_path / "out", Small(), GRAPHS)
    end = explain_to(tmp_path / "out", Small(), GRAPHS, workers=2)
    assert end.before == end.done == len(GRAPHS)


def test_explain_dataset_takes_a_lambda_as_forward_in_workers() -> None:
    def call(model, data):
        return model(data.x, data.edge_index, data.batch)

    alone = eigsearch.explain_dataset(Small(), GRAPHS[:4], forward=call)
    shared = eigsearch.explain_dataset(
        Small(), GRAPHS[:4], forward=lambda model, data: call(model, data), workers=2
    )
    masks = [[e.edge_mask.tolist() for e in found] for found in (alone, shared)]
    assert masks[0] == masks[1]
