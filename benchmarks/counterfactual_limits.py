"""Whether predictions that greedy deletion does not flip can be flipped by deletion at all.

    python -m benchmarks.counterfactual_limits

Takes the predictions of `benchmarks.counterfactuals` that deletion leaves as they are. Every set of
edges is tried, size by size, as far as there are at most 262,144 sets of a size; a beam of 64 sets
instead of four goes on until no edge is left.
"""

from __future__ import annotations

from itertools import takewhile
from math import comb
from typing import Any

import torch

import eigsearch
from benchmarks.counterfactuals import ROWS
from benchmarks.speed.timing import write
from eigsearch.bench.run.setting import Setting, load_setting
from eigsearch.counterfactual.explanation import FlipExplanation
from eigsearch.counterfactual.search import MAX_SUBSETS

SETTINGS = (("Mutagenicity", "gcn"),)
_BEAM = 64  # so many answers are asked for, and so many sets grow
_MOST = 5  # predictions of a setting


def measure(dataset: str, conv: str, count: int = 100) -> list[dict[str, Any]]:
    """Return a row for each prediction that greedy deletion does not flip."""
    setting = load_setting(dataset, conv)
    asked = setting.sample(count, seed=0)
    found = eigsearch.flip_dataset(
        setting.model, [setting.dataset[each.graph] for each in asked], progress=False
    )
    left = [each.graph for each, answer in zip(asked, found, strict=True) if not answer.flipped]
    return [_row(setting, dataset, conv, graph) for graph in left[:_MOST]]


def _row(setting: Setting, dataset: str, conv: str, graph: int) -> dict[str, Any]:
    data = setting.dataset[graph]
    edges = int(data.num_edges) // 2
    fits = takewhile(lambda size: comb(edges, size) <= MAX_SUBSETS // 2, range(1, edges + 1))
    largest = max(fits)
    every = eigsearch.flip(setting.model, data, search="exhaustive", max_size=largest)
    beam = eigsearch.flip(setting.model, data, max_size=edges, answers=_BEAM)
    assert isinstance(every, FlipExplanation)
    assert isinstance(beam, list)
    bare = data.edge_subgraph(torch.zeros(data.num_edges, dtype=torch.bool))
    alone = eigsearch.explain(setting.model, bare, target=every.target)
    row = {
        "dataset": dataset,
        "model": conv,
        "graph": graph,
        "edges": edges,
        "every_set_up_to": largest,
        "exhaustive_size": every.size if every.flipped else "",
        "beam_size": beam[0].size if beam else "",
        "value_without_edges": round(alone.value, 4),
    }
    print(*row.values(), sep="\t", flush=True)
    return row


def main() -> None:
    """Measure the settings, print the rows and write them."""
    torch.set_num_threads(1)
    rows = [row for setting in SETTINGS for row in measure(*setting)]
    print(write("limits", rows, ROWS))


if __name__ == "__main__":
    main()
