"""How many predictions per second are explained: one process, two, and Ray, taking turns.

    python -m benchmarks.speed.throughput                   # a few minutes; writes throughput.csv
    python -m benchmarks.speed.throughput --memory 100000   # writes throughput_memory.csv

A rate is taken once every worker is warm, so without the start of processes, of actors and of what
they import. The second command runs many graphs through two workers and notes the memory of each.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import torch
from torch_geometric.data import Data

import eigsearch
from benchmarks.speed import timing
from eigsearch import datasets
from eigsearch.models import zoo
from eigsearch.parallel import DirectorySource, Progress, explain_to

WARM = 0.3  # the share of rows after which every worker has started
LATE = 0.95  # the share up to which every worker has something to do
SAMPLES = 20  # how often memory is looked at
FILES = 16  # so many files hold the graphs that workers read themselves
Mark = tuple[int, float, float]
Measure = tuple[float, float]


class Clock:
    """Notes rows done, wall seconds and CPU seconds of this process as a run goes on."""

    def __init__(self, also: Callable[[Progress], None] | None = None) -> None:
        self.marks: list[Mark] = []
        self.also = also

    def __call__(self, now: Progress) -> None:
        self.marks.append((now.done, time.perf_counter(), time.process_time()))
        if self.also:
            self.also(now)

    def warm(self) -> Measure:
        """Return rows per second, and this process's CPU milliseconds per row, once warm."""
        (first, begin, before), (done, end, cpu) = map(self._reached, (WARM, LATE))
        return (done - first) / (end - begin), 1e3 * (cpu - before) / (done - first)

    def _reached(self, share: float) -> Mark:
        """Return the first mark at a share of the rows; results may come in bursts, after both."""
        return next(mark for mark in self.marks if mark[0] >= share * self.marks[-1][0])


def to_directory(model: torch.nn.Module, graphs: Any, **where: Any) -> Measure:
    """Return the rate of a run that writes rows."""
    with tempfile.TemporaryDirectory() as scratch:
        clock = Clock()
        explain_to(Path(scratch, "out"), model, graphs, progress=clock, **where)
    return clock.warm()


def bare(model: torch.nn.Module, graphs: Sequence[Data]) -> Measure:
    """Return the rate of the library alone, without rows."""
    clock, total = Clock(), len(graphs)
    for number, _ in enumerate(eigsearch.explain_dataset(model, graphs)):
        clock(Progress(number + 1, total, 0, 0, 0.0))
    return clock.warm()


@contextmanager
def in_files(graphs: Sequence[Data]) -> Iterator[DirectorySource]:
    """Hold the graphs in files that every worker reads by itself."""
    with tempfile.TemporaryDirectory() as scratch:
        step = -(-len(graphs) // FILES)
        for number in range(FILES):
            part = list(graphs[number * step : (number + 1) * step])
            datasets.save_file(part, Path(scratch, f"{number:03d}.safetensors"))
        yield DirectorySource(scratch)


def compare(dataset: str, conv: str, times: int, repeats: int, ray: bool) -> None:
    """Measure every way to run, in turns, and write the medians."""
    graphs = list(datasets.load(dataset).graphs) * times
    model, _ = zoo.load(dataset, conv)
    with in_files(graphs) as files:
        runs: dict[str, Callable[[], Measure]] = {
            "explain_dataset": partial(bare, model, graphs),
            "one process": partial(to_directory, model, graphs),
            "--workers 2": partial(to_directory, model, graphs, workers=2),
            "--workers 2, files": partial(to_directory, model, files, workers=2),
        }
        if ray:
            runs["--ray"] = partial(on_ray, model, graphs)
        found = taking_turns(runs, repeats)
    about = {"dataset": dataset, "model": conv, "rows": len(graphs), "cores": os.cpu_count()}
    timing.write("throughput", [{"place": name, **about, **row} for name, row in found.items()])


def on_ray(model: torch.nn.Module, graphs: Any) -> Measure:
    """Return the rate on a cluster of one machine, which is there for this run alone.

    Its own processes want some of the cores, also while nobody uses it.
    """
    import logging

    import ray

    ray.init(num_cpus=2, log_to_driver=False, logging_level=logging.ERROR)
    try:
        return to_directory(model, graphs, workers=2, ray="auto")
    finally:
        ray.shutdown()


def taking_turns(
    runs: dict[str, Callable[[], Measure]], repeats: int
) -> dict[str, dict[str, str | int]]:
    """Return the median rate, its range, and the driver's CPU time for each way to run."""
    taken: dict[str, list[Measure]] = {name: [] for name in runs}
    for number in range(repeats):
        for name, run in runs.items():
            taken[name].append(run())
            print(f"{number} {name:<20} {taken[name][-1][0]:8.1f} rows/s", flush=True)
    return {name: _summary(measures) for name, measures in taken.items()}


def _summary(measures: Sequence[Measure]) -> dict[str, str | int]:
    rates, driver = zip(*measures, strict=True)
    return {
        "repeats": len(rates),
        "rows_per_second": f"{statistics.median(rates):.1f}",
        "slowest": f"{min(rates):.1f}",
        "fastest": f"{max(rates):.1f}",
        "driver_ms_per_row": f"{statistics.median(driver):.4f}",
    }


class Memory:
    """Notes how much memory each worker holds as a run goes on."""

    def __init__(self) -> None:
        self.rows: list[dict[str, int]] = []

    def __call__(self, now: Progress) -> None:
        if len(self.rows) < now.done * SAMPLES // now.total < SAMPLES:  # at the end they are gone
            held = worker_memory()
            self.rows.append({"done": now.done, "least_mb": min(held), "most_mb": max(held)})
            print(self.rows[-1], flush=True)


def worker_memory() -> list[int]:
    """Return the private megabytes of each worker process."""
    workers = [p for p in psutil.Process().children(recursive=True) if not p.children()]
    memory = [p.memory_full_info().uss >> 20 for p in workers]
    return [size for size in memory if size > 50] or [0]  # the others are helpers without torch


def watch_memory(count: int) -> None:
    """Run many graphs through two workers and write what these hold."""
    base = datasets.generate("BA-2Motifs").graphs
    model, _ = zoo.load("BA-2Motifs", "gin")
    graphs = [base[i % len(base)] for i in range(count)]
    memory = Memory()
    with tempfile.TemporaryDirectory() as scratch:
        explain_to(Path(scratch, "out"), model, graphs, workers=2, progress=Clock(memory))
    timing.write("throughput_memory", [{"total": count, **row} for row in memory.rows])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", default="Mutagenicity")
    parser.add_argument("--model", default="gin")
    parser.add_argument("--times", type=int, default=3, help="how often the data set is repeated")
    parser.add_argument("--repeats", type=int, default=3, help="how often each way is measured")
    parser.add_argument("--no-ray", action="store_true")
    parser.add_argument("--memory", type=int, help="watch memory over so many graphs instead")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.memory:
        watch_memory(arguments.memory)
    else:
        compare(
            arguments.dataset,
            arguments.model,
            arguments.times,
            arguments.repeats,
            not arguments.no_ray,
        )


if __name__ == "__main__":
    main()
