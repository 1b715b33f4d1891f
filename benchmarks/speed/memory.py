"""Peak memory of an explanation against the budget in bytes, for both engines.

    python -m benchmarks.speed.memory

Each case runs in a process of its own, which has explained a small graph before, so that the peak
is what the explanation takes above the libraries, the model and the data. The C library is told to
give freed memory back at once; left to itself it keeps some, and the peak says more about it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import GCN, GIN, global_max_pool, global_mean_pool

import eigsearch
from benchmarks.speed.nodes import peak_mb
from benchmarks.speed.scaling import FEATURES, as_data, three_regular
from benchmarks.speed.timing import write

EDGES = {"batched": 600, "incremental": 1_500}
MODELS = {"gcn, mean": (GCN, global_mean_pool), "gin, max": (GIN, global_max_pool)}
BUDGETS = (0, 32, 64, 128)  # MB; 0 stands for none
GIVE_BACK = {"MALLOC_MMAP_THRESHOLD_": "131072", "MALLOC_TRIM_THRESHOLD_": "131072"}


class Wide(nn.Module):
    """A network whose states are wide enough for a budget to matter."""

    def __init__(self, name: str) -> None:
        super().__init__()
        layers, self.pool = MODELS[name]
        self.layers, self.head = layers(FEATURES, 256, 3), nn.Linear(256, 2)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        """Return the scores of each graph."""
        return self.head(self.pool(self.layers(x, edge_index), batch))


def one(engine: str, name: str, budget: str) -> None:
    """Explain one graph in this process and print what it took at most, in MB."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model, data = Wide(name).eval(), as_data(three_regular(EDGES[engine]))
    settings: dict[str, Any] = {"engine": engine, "max_memory": 1_000_000 * int(budget) or None}
    eigsearch.explain(model, as_data(three_regular(60)), **settings)
    before = peak_mb()
    eigsearch.explain(model, data, **settings)
    print(peak_mb() - before)


def main() -> None:
    """Measure each case in a process of its own, print and write the rows."""
    rows = []
    for engine, name, budget in ((e, n, b) for e in EDGES for n in MODELS for b in BUDGETS):
        command = [sys.executable, "-m", "benchmarks.speed.memory", engine, name, str(budget)]
        run = partial(subprocess.run, env={**os.environ, **GIVE_BACK}, capture_output=True)
        printed = run(command, check=True, text=True).stdout
        rows.append({
            "engine": engine,
            "model": name,
            "edges": EDGES[engine],
            "budget_mb": budget or "none",
            "peak_mb": round(float(printed) * 1.048576, 1),
        })  # fmt: skip
        print(*rows[-1].values(), sep="\t", flush=True)
    print(write("memory", rows))


if __name__ == "__main__":
    one(*sys.argv[1:]) if len(sys.argv) > 1 else main()
