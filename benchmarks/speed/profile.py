"""Where an explanation of a molecule spends its time: tensor work, index building, the rest.

    python -m benchmarks.speed.profile [--graphs 256] [--repeats 5]

CPU time of `explain_dataset` with the incremental engine on Mutagenicity, whole sweep, one thread,
beside the model's bare forward over the same candidates; with equal states computed once, as the
engine does, and each for itself. Stopwatches stand around the few functions that the engine calls
once for all graphs of a window: a profiler that looks at every call would charge its own time to
the smallest of them.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any
from unittest import mock

import torch
from torch_geometric.data import Data

from benchmarks.speed.engines import WHOLE, bare_forward, candidate_batches
from benchmarks.speed.timing import write
from eigsearch import datasets, explain_dataset
from eigsearch.engines.incremental import layout
from eigsearch.engines.incremental.context import EvalContext
from eigsearch.engines.incremental.engine import IncrementalEngine
from eigsearch.models import zoo

ENGINE = [(IncrementalEngine, "_compute")]
INDEX = [(EvalContext, "__init__"), (EvalContext, "once")]
# Of the rows distinct, below which the engine compares those of the next layer.
STATES = {"computed once": layout.WORTH_COMPARING, "each for itself": 0.0}


class Stopwatch:
    """Adds up the CPU time spent in the functions that it stands around."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._running = False

    @contextmanager
    def around(self, functions: Sequence[tuple[type, str]]) -> Iterator[None]:
        """Time calls of the functions while the context lasts; of nested ones the outermost."""
        with ExitStack() as stack:
            for owner, name in functions:
                timed = self._timed(getattr(owner, name))
                stack.enter_context(mock.patch.object(owner, name, timed))
            yield

    def _timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            if self._running:
                return function(*args, **kwargs)
            self._running, began = True, time.process_time()
            try:
                return function(*args, **kwargs)
            finally:
                self._running = False
                self.seconds += time.process_time() - began

        return timed


def parts(explain: Callable[[], Any], bare: Callable[[], Any]) -> dict[str, float]:
    """Return the seconds of each part of one run, and those of the bare forward."""
    engine, index = Stopwatch(), Stopwatch()
    with engine.around(ENGINE), index.around(INDEX):
        total = seconds(explain)
    return {
        "tensor work": engine.seconds - index.seconds,
        "index building": index.seconds,
        "Python around them": total - engine.seconds,
        "bare forward": seconds(bare),
    }


def seconds(run: Callable[[], Any]) -> float:
    """Return the CPU time of a run."""
    began = time.process_time()
    run()
    return time.process_time() - began


def main() -> None:
    """Profile, print and write the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=256)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    graphs = [graph for graph in datasets.load("Mutagenicity") if graph.num_edges > 4]
    rows = profile(graphs[: options.graphs], options.repeats)
    for row in rows:
        print(*row.values(), sep="\t")
    print(write("profile", rows))


def profile(graphs: Sequence[Data], repeats: int) -> list[dict[str, Any]]:
    """Return what each part takes per graph, of the run, and of the bare forward."""
    rows = []
    for conv in ("gcn", "gin"):
        model = zoo.load("Mutagenicity", conv)[0]
        bare = partial(bare_forward, model, candidate_batches(model, graphs))
        explain = partial(explain_all, model, graphs)
        explain()
        for states, worth in STATES.items():
            with mock.patch.object(layout, "WORTH_COMPARING", worth):
                runs = [parts(explain, bare) for _ in range(repeats)]
            rows += [{"model": conv, "equal_states": states, **row} for row in table(runs, graphs)]
    return rows


def table(runs: Sequence[dict[str, float]], graphs: Sequence[Data]) -> Iterator[dict[str, Any]]:
    """Yield the median of each part: per graph, of the run, and of the bare forward."""
    taken = {part: statistics.median(run[part] for run in runs) for part in runs[0]}
    bare = taken.pop("bare forward")
    for part, time_taken in taken.items():
        yield {
            "part": part,
            "ms_per_graph": round(1e3 * time_taken / len(graphs), 4),
            "share": round(time_taken / sum(taken.values()), 3),
            "of_bare_forward": round(time_taken / bare, 3),
        }


def explain_all(model: Any, graphs: Sequence[Data]) -> None:
    """Explain the graphs as a data set, over all sizes."""
    list(explain_dataset(model, graphs, engine="incremental", **WHOLE))


if __name__ == "__main__":
    main()
