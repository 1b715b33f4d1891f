"""Fair timing on a noisy machine: competitors take turns, and the median counts."""

from __future__ import annotations

import csv
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from eigsearch._utils.versions import versions
from eigsearch.bench.run.environment import processor

RESULTS = Path(__file__).parents[1] / "results" / "speed"
Times = tuple[float, float]  # CPU seconds, wall seconds


def interleaved(
    runs: Mapping[str, Callable[[], Any]], repeats: int
) -> dict[str, tuple[float, float]]:
    """Return the median CPU and wall seconds of each run, after one warm-up each, in turns."""
    for run in runs.values():
        run()
    taken: dict[str, list[Times]] = {name: [] for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            wall, cpu = time.perf_counter(), time.process_time()
            run()
            taken[name].append((time.process_time() - cpu, time.perf_counter() - wall))
    return {name: tuple(map(statistics.median, zip(*t, strict=True))) for name, t in taken.items()}


def machine() -> dict[str, str]:
    """Return what a measurement depends on."""
    return {"cpu": processor(), "threads": str(torch.get_num_threads()), **versions()}


def write(name: str, rows: Sequence[dict[str, Any]], folder: Path = RESULTS) -> Path:
    """Write rows as CSV, each with the machine that it ran on."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.csv"
    rows = [{**row, **machine()} for row in rows]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path
