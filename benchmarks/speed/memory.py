"""Time and peak memory of an explanation against the budget in bytes, for both engines.

    python -m benchmarks.speed.memory

Budgets start at the smallest that works, which the library names when it is given less. Each case
runs in a process of its own, which has called the model and explained a small graph before, so that
the peak is what the explanation takes above the libraries, the model and the data. The C library is
told to give freed memory back at once; left to itself it keeps some, and the peak tells of that.
Medians of three runs count: code of the libraries that is read from the disk when it first runs
belongs to the process too, some 2 MB that no budget knows of.
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import GCN, GIN, global_max_pool, global_mean_pool

import eigsearch
from benchmarks.speed.scaling import FEATURES, as_data, three_regular
from benchmarks.speed.timing import write
from eigsearch.errors import MemoryBudgetError

MODELS = {"gcn, mean": (GCN, global_mean_pool), "gin, max": (GIN, global_max_pool)}
CASES = (  # engine, model, width, edges
    ("batched", "gcn, mean", 256, 300),
    ("batched", "gin, max", 256, 300),
    ("incremental", "gcn, mean", 256, 1_500),
    ("incremental", "gin, max", 256, 1_500),
    ("incremental", "gin, max", 64, 4_500),
    ("incremental", "gcn, mean", 64, 30_000),
)
RUNS, RUNS_OF_LARGE, LARGE = 3, 1, 10_000  # edges
TIMES_SMALLEST = (0, 1, 2, 4)  # 0 stands for no budget
GIVE_BACK = {"MALLOC_MMAP_THRESHOLD_": "131072", "MALLOC_TRIM_THRESHOLD_": "131072"}


class Net(nn.Module):
    """A network whose states are wide enough for a budget to matter."""

    def __init__(self, name: str, width: int) -> None:
        super().__init__()
        layers, self.pool = MODELS[name]
        self.layers, self.head = layers(FEATURES, width, 3), nn.Linear(width, 2)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        """Return the scores of each graph."""
        return self.head(self.pool(self.layers(x, edge_index), batch))


def smallest(model: nn.Module, data: Data, settings: dict[str, Any]) -> int:
    """Return the smallest budget that works, as the library states it."""
    try:
        eigsearch.explain(model, data, max_memory=1, **settings)
    except MemoryBudgetError as error:
        return error.smallest
    raise AssertionError("Expected a byte to be too little (got an explanation).")


def resident_mb(field: str) -> float:
    """Return the memory of this process now (`VmRSS`) or at most (`VmHWM`), in MB."""
    found = re.search(rf"{field}:\s+(\d+)", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) * 1.024e-3


def one(engine: str, name: str, width: str, edges: str, times: str) -> None:
    """Explain one graph in this process; print the budget in MB, CPU seconds and the peak."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model, data = Net(name, int(width)).eval(), as_data(three_regular(int(edges)))
    settings: dict[str, Any] = {"engine": engine, "sparsity": 0.0}
    budget = int(times) * smallest(model, data, settings)
    settings["max_memory"] = budget or None
    eigsearch.explain(model, as_data(three_regular(60)), **settings)
    with torch.inference_mode():
        model(data.x, data.edge_index, torch.zeros(data.num_nodes, dtype=torch.long))
    runs = RUNS if int(edges) < LARGE else RUNS_OF_LARGE
    taken = [cpu_and_peak(model, data, settings) for _ in range(runs)]
    print(budget / 1e6, *map(statistics.median, zip(*taken, strict=True)))


def cpu_and_peak(model: nn.Module, data: Data, settings: dict[str, Any]) -> tuple[float, float]:
    """Return the CPU seconds of an explanation, and the memory that it took at most, in MB."""
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from here
    before, cpu = resident_mb("VmRSS"), time.process_time()
    eigsearch.explain(model, data, **settings)
    return time.process_time() - cpu, resident_mb("VmHWM") - before


def measure(case: tuple[Any, ...], times: int) -> tuple[float, float, float]:
    """Return the budget in MB, CPU seconds and the peak of a case, from a process of its own."""
    command = [sys.executable, "-m", "benchmarks.speed.memory", *map(str, case), str(times)]
    environment = {**os.environ, **GIVE_BACK}
    run = subprocess.run(command, check=True, text=True, env=environment, capture_output=True)
    budget, cpu, peak = map(float, run.stdout.split())
    return budget, cpu, peak


def main() -> None:
    """Measure each case, print and write the rows."""
    rows = []
    for case in CASES:
        found = [measure(case, times) for times in TIMES_SMALLEST]
        for budget, cpu, peak in found:
            rows.append({
                **dict(zip(("engine", "model", "width", "edges"), case, strict=True)),
                "budget_mb": round(budget, 1) or "none",
                "cpu_seconds": round(cpu, 2),
                "times_without": round(cpu / found[0][1], 1),
                "peak_mb": round(peak, 1),
            })  # fmt: skip
            print(*rows[-1].values(), sep="\t", flush=True)
    print(write("memory", rows))


if __name__ == "__main__":
    one(*sys.argv[1:]) if len(sys.argv) > 1 else main()
