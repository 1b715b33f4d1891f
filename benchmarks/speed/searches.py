"""What each search takes beside the sweep when a data set is explained.

    python -m benchmarks.speed.searches

Searches take turns on the same graphs in one process, and medians count. Evaluations are candidates
given to the model, those of the ranking included.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import torch

import eigsearch
from benchmarks.speed.timing import interleaved, write
from eigsearch.bench.run.setting import load_setting

SETTINGS = (
    ("BA-2Motifs", "gin"),
    ("Mutagenicity", "gin"),
    ("Mutagenicity", "gcn"),
    ("NCI1", "gin"),
)
SEARCHES = ("sweep", "resweep", "refine", "anchored")
BASE = "sweep"


def measure(dataset: str, conv: str, count: int, repeats: int) -> list[dict[str, Any]]:
    """Return time, evaluations and gain of each search on one setting."""
    setting = load_setting(dataset, conv)
    graphs = [setting.dataset[each.graph] for each in setting.sample(count, seed=0)]
    found: dict[str, list[eigsearch.SubgraphExplanation]] = {}

    def explaining(search: str) -> Callable[[], None]:
        def explain() -> None:
            answers = eigsearch.explain_dataset(setting.model, graphs, search=search)
            found[search] = list(answers)

        return explain

    times = interleaved({search: explaining(search) for search in SEARCHES}, repeats)
    asked = {search: sum(map(evaluations, found[search])) for search in SEARCHES}
    return [
        {
            "dataset": dataset,
            "model": conv,
            "graphs": len(graphs),
            "search": search,
            "cpu_ms_per_graph": round(1000 * cpu / len(graphs), 3),
            "times_the_sweep": round(cpu / times[BASE][0], 3),
            "evaluations_per_graph": round(asked[search] / len(graphs), 1),
            "evaluations_of_the_sweep": round(asked[search] / asked[BASE], 3),
            "gain": round(sum(each.gain for each in found[search]) / len(graphs), 4),
        }
        for search, (cpu, _) in times.items()
    ]


def evaluations(explanation: eigsearch.SubgraphExplanation) -> int:
    """Return the candidates of an explanation: the graph, each group left out, and the search's."""
    return 1 + explanation.num_groups + sum(step.evaluations for step in explanation.path)


def main() -> None:
    """Measure every setting, print the rows and write them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", type=int, default=96)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    for dataset, conv in SETTINGS:
        rows += measure(dataset, conv, arguments.graphs, arguments.repeats)
        for row in rows[-len(SEARCHES) :]:
            print(*row.values(), sep="\t", flush=True)
    print(write("searches", rows))


if __name__ == "__main__":
    main()
