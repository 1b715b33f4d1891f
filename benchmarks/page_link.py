"""Explain the 129 test links of UserItemAttr by their edges and by their paths, and write one row.

    EIGSEARCH_DATA=… python -m benchmarks.page_link

The protocol is PaGE-Link's: links that the published network predicts, AUC over candidate edges of
the types that occur in the truth of a link, mean over links. The row says what the paths that
PaGE-Link planted score when edges are ranked by |drop| of an edge with its reverse, when paths are
ranked by their weakest edge, and when no model is asked.
"""

from __future__ import annotations

import csv
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from tests.reference.page_link import FIRST, PageLink, Pair

from eigsearch import explain_dataset
from eigsearch.datasets import load
from eigsearch.models.rgcn import load_rgcn

RESULTS = Path(__file__).parent / "results" / "page_link.csv"
LOW_DEGREE_RULE = 0.987  # of tests/datasets/test_user_item_attr.py: paths through low degrees


def explained(folder: Path, count: int | None = None) -> tuple[PageLink, dict[int, Any]]:
    """Return the protocol, and the explanations of the first links that the network predicts."""
    data = load("UserItemAttr", root=folder.parent)[0]
    model, reference = load_rgcn(folder / "rgcn.safetensors"), PageLink(folder)
    links = [link for link in reference.test_links if reference.logit(link) > 0][:count]
    pairs = (("user", "item"), data.edge_label_index[:, links])
    return reference, dict(zip(links, explain_dataset(model, data, link=pairs), strict=True))


def edge_scores(ex: Any) -> dict[Pair, float]:
    """Return |drop| of each pair of nodes that an edge joins."""
    score = ex.score.abs().tolist()
    return {pair: score[group] for group, pair in _pairs(ex).items()}


def path_scores(ex: Any) -> dict[Pair, float]:
    """Return the weakest edge of the best path through each edge."""
    pairs = _pairs(ex)
    best: dict[Pair, float] = {}
    for path in reversed(ex.paths(k=None, max_length=3)):
        best |= {pairs[group]: path.score for group in path.groups}
    return best


def _pairs(ex: Any) -> dict[int, Pair]:
    """Return the two nodes of each group, in the numbering of the protocol."""
    schema, ends = ex.flat.schema, ex.flat.data.edge_index[:, ex.edges].t().tolist()
    found = {}
    for nodes, group in zip(ends, ex.group.tolist(), strict=True):
        one, other = (FIRST[kind] + n for kind, n in map(schema.node_name, nodes))
        found[group] = (min(one, other), max(one, other))
    return found


def main() -> None:
    folder = Path(os.environ["EIGSEARCH_DATA"]) / "user_item_attr"
    start = time.process_time()
    reference, found = explained(folder)
    seconds = (time.process_time() - start) / len(found)
    row = {
        "links": len(found),
        "auc_edges": np.mean([reference.auc(k, edge_scores(ex)) for k, ex in found.items()]),
        "auc_paths": np.mean([reference.auc(k, path_scores(ex)) for k, ex in found.items()]),
        "auc_low_degree_rule": LOW_DEGREE_RULE,
        "seconds_per_link": seconds,
        "engine": next(iter(found.values())).engine,
    }
    row = {name: round(v, 4) if isinstance(v, float) else v for name, v in row.items()}
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(row), lineterminator="\n")
        writer.writeheader()
        writer.writerow(row)


if __name__ == "__main__":
    main()
