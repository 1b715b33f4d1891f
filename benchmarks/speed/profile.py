"""Where an explanation of a molecule spends its time: tensor work, index building, the rest.

    python -m benchmarks.speed.profile [--graphs 256]

CPU time of `explain_dataset` with the incremental engine on Mutagenicity, whole sweep, one thread.
Tensor work happens inside the operators of torch; index building is the NumPy part of the engine.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import time

import torch

from benchmarks.speed.timing import write
from eigsearch import datasets, explain_dataset
from eigsearch.models import zoo

INDEX = ("incremental/lanes.py", "incremental/states.py", "numpy")


def part_of(file: str, name: str) -> str:
    """Return what a profiled function counts as."""
    if file == "~" and "torch" in name:
        return "tensor work"
    if any(word in file or word in name for word in INDEX):
        return "index building"
    return "Python around them"


def main() -> None:
    """Profile, print and write the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=256)
    count = parser.parse_args().graphs
    torch.set_num_threads(1)
    graphs = datasets.load("Mutagenicity").graphs[:count]
    rows = []
    for conv in ("gcn", "gin"):
        model = zoo.load("Mutagenicity", conv)[0]
        list(explain_dataset(model, graphs[:64], engine="incremental", sparsity=0.0))
        profiler = cProfile.Profile(time.process_time)
        profiler.enable()
        list(explain_dataset(model, graphs, engine="incremental", sparsity=0.0))
        profiler.disable()
        spent: dict[str, float] = {}
        for (file, _, name), (_, _, own, _, _) in pstats.Stats(profiler).stats.items():  # type: ignore[attr-defined]
            part = part_of(file, name)
            spent[part] = spent.get(part, 0.0) + own
        for part, seconds in spent.items():
            share = seconds / sum(spent.values())
            rows.append({"model": conv, "part": part, "share": round(share, 3)})
            print(conv, part, round(share, 3), sep="\t")
    print(write("profile", rows))


if __name__ == "__main__":
    main()
