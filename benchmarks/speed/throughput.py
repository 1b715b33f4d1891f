"""How many predictions per second are explained: one process, two, and Ray.

    python -m benchmarks.speed.throughput --dataset Mutagenicity --model gin
    python -m benchmarks.speed.throughput --memory 100000

The first prints rows per second, over the whole run and once every worker is warm. The second runs
many graphs through two workers and prints the memory of each as it goes.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import psutil
import torch
from torch_geometric.data import Data

from eigsearch import datasets
from eigsearch.models import zoo
from eigsearch.work import Progress, explain_to

WARM = 0.2  # the share of rows after which every worker has started


class Clock:
    """Notes when rows were done, and how much memory the workers hold."""

    def __init__(self, watch_memory: bool = False) -> None:
        self.start = time.perf_counter()
        self.marks: list[tuple[int, float]] = []
        self.watch_memory = watch_memory

    def __call__(self, now: Progress) -> None:
        self.marks.append((now.done, time.perf_counter() - self.start))
        if self.watch_memory and now.done * 20 // now.total > self._before(now) * 20 // now.total:
            print(f"{now.done:>8} rows  {worker_memory()} MB", flush=True)

    def _before(self, now: Progress) -> int:
        return self.marks[-2][0] if len(self.marks) > 1 else 0

    def rates(self) -> tuple[float, float]:
        """Return rows per second over all, and after the start-up."""
        (done, end) = self.marks[-1]
        first, begin = next(mark for mark in self.marks if mark[0] >= WARM * done)
        return done / end, (done - first) / (end - begin)


def worker_memory() -> list[int]:
    """Return the private megabytes of each worker process."""
    workers = [p for p in psutil.Process().children(recursive=True) if not p.children()]
    memory = [p.memory_full_info().uss >> 20 for p in workers]
    return [size for size in memory if size > 50]  # the others are helpers without torch


def measure(graphs: Sequence[Data], model: torch.nn.Module, **where: object) -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as scratch:
        clock = Clock()
        explain_to(Path(scratch, "out"), model, graphs, progress=clock, **where)
    return clock.rates()


def compare(dataset: str, conv: str, count: int | None, ray: bool) -> None:
    graphs = datasets.load(dataset).graphs[:count]
    model, _ = zoo.load(dataset, conv)
    places = {"one process": {}, "--workers 2": {"workers": 2}}
    if ray:
        places["--ray"] = {"ray": "auto", "workers": 2}
    print(f"{dataset} {conv}, {len(graphs)} graphs, {os.cpu_count()} cores, load {os.getloadavg()}")
    for name, where in places.items():
        whole, warm = measure(graphs, model, **where)
        print(f"{name:<12} {whole:7.1f} rows/s over all {warm:7.1f} rows/s once warm", flush=True)


def watch_memory(count: int) -> None:
    base = datasets.generate("BA-2Motifs").graphs
    model, _ = zoo.load("BA-2Motifs", "gin")
    graphs = [base[i % len(base)] for i in range(count)]
    with tempfile.TemporaryDirectory() as scratch:
        clock = Clock(watch_memory=True)
        explain_to(Path(scratch, "out"), model, graphs, workers=2, progress=clock)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", default="Mutagenicity")
    parser.add_argument("--model", default="gin")
    parser.add_argument("--graphs", type=int, help="the first so many only")
    parser.add_argument("--no-ray", action="store_true")
    parser.add_argument("--memory", type=int, help="watch memory over so many graphs instead")
    arguments = parser.parse_args()
    if arguments.memory:
        watch_memory(arguments.memory)
    else:
        compare(arguments.dataset, arguments.model, arguments.graphs, not arguments.no_ray)


if __name__ == "__main__":
    main()
