"""Time per molecule against the batch budget, for both engines: where the defaults come from.

python -m benchmarks.speed.budget [--graphs 256]
"""

from __future__ import annotations

import argparse
from functools import partial

import torch

from benchmarks.speed.timing import interleaved, write
from eigsearch import datasets, explain_dataset
from eigsearch.models import zoo

BUDGETS = (1_024, 4_096, 8_192, 16_384, 32_768, 65_536, 131_072)


def main() -> None:
    """Measure, print and write the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=256)
    count = parser.parse_args().graphs
    torch.set_num_threads(1)
    graphs = datasets.load("Mutagenicity").graphs[:count]
    model = zoo.load("Mutagenicity", "gin")[0]

    def explain(engine: str, budget: int) -> None:
        list(explain_dataset(model, graphs, engine=engine, max_batch_nodes=budget, sparsity=0.0))

    cases = [(engine, budget) for engine in ("batched", "incremental") for budget in BUDGETS]
    runs = {f"{engine} {budget}": partial(explain, engine, budget) for engine, budget in cases}
    rows = []
    for (engine, budget), (cpu, _) in zip(cases, interleaved(runs, 3).values(), strict=True):
        rows.append({"engine": engine, "max_batch_nodes": budget})
        rows[-1]["cpu_ms_per_graph"] = round(1e3 * cpu / count, 3)
        print(*rows[-1].values(), sep="\t")
    print(write("budget", rows))


if __name__ == "__main__":
    main()
