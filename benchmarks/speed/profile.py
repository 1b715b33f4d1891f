"""Where an explanation of a molecule spends its time: tensor work, index building, the rest.

    python -m benchmarks.speed.profile [--graphs 256] [--repeats 5]

CPU time of `explain_dataset` with the incremental engine on Mutagenicity, whole sweep, one thread.
Stopwatches stand around the few functions that the engine calls once for all graphs of a window: a
profiler that looks at every call would charge its own time to the smallest of them.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import torch

from benchmarks.speed.timing import write
from eigsearch import datasets, explain_dataset
from eigsearch.engine.incremental.engine import IncrementalEngine
from eigsearch.engine.incremental.layers import Step
from eigsearch.engine.incremental.readout import Readout
from eigsearch.engine.incremental.scene import Scene
from eigsearch.models import zoo

ENGINE = [(IncrementalEngine, "_compute")]
INDEX = [
    (Scene, "__init__"), (Scene, "next_table"), (Step, "__init__"), (Step, "unite"),
    (Step, "bags"), (Step, "bags_with_own"), (Readout, "active"),
]  # fmt: skip


class Stopwatch:
    """Adds up the CPU time spent in the functions that it stands around."""

    def __init__(self) -> None:
        self.seconds = 0.0

    @contextmanager
    def around(self, functions: list[tuple[type, str]]) -> Iterator[None]:
        """Time calls of the functions, which do not call each other, while the context lasts."""
        with ExitStack() as stack:
            for owner, name in functions:
                timed = self._timed(getattr(owner, name))
                stack.enter_context(mock.patch.object(owner, name, timed))
            yield

    def _timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            began = time.process_time()
            try:
                return function(*args, **kwargs)
            finally:
                self.seconds += time.process_time() - began

        return timed


def shares(explain: Callable[[], Any]) -> dict[str, float]:
    """Return the share of each part in one run."""
    engine, index = Stopwatch(), Stopwatch()
    with engine.around(ENGINE), index.around(INDEX):
        began = time.process_time()
        explain()
        total = time.process_time() - began
    return {
        "tensor work": (engine.seconds - index.seconds) / total,
        "index building": index.seconds / total,
        "Python around them": 1 - engine.seconds / total,
    }


def main() -> None:
    """Profile, print and write the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=256)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    graphs = datasets.load("Mutagenicity").graphs[: options.graphs]
    rows = []
    for conv in ("gcn", "gin"):
        model = zoo.load("Mutagenicity", conv)[0]

        def explain(model: Any = model) -> None:
            list(explain_dataset(model, graphs, engine="incremental", sparsity=0.0))

        explain()
        runs = [shares(explain) for _ in range(options.repeats)]
        for part in runs[0]:
            share = statistics.median(run[part] for run in runs)
            rows.append({"model": conv, "part": part, "share": round(share, 3)})
            print(*rows[-1].values(), sep="\t")
    print(write("profile", rows))


if __name__ == "__main__":
    main()
