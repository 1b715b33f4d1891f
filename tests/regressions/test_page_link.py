"""UserItemAttr through the public functions: what is known about it, on all of its test links."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from benchmarks.page_link import RESULTS, edge_scores, explained, path_scores


def test_page_link_edges_and_paths_find_what_plain_calls_find() -> None:
    folder = Path(os.environ.get("EIGSEARCH_DATA", "")) / "user_item_attr"
    if not (folder / "graph.npz").is_file():
        pytest.skip("needs user_item_attr/ of PaGE-Link in EIGSEARCH_DATA")
    reference, found = explained(folder)
    assert len(found) == 129
    for link, ex in list(found.items())[:6]:
        drops = reference.drops(link)
        assert edge_scores(ex) == pytest.approx(drops, rel=1e-2, abs=1e-2)
        assert path_scores(ex) == pytest.approx(reference.path_scores(link, drops), abs=1e-1)
    by_edge = [reference.auc(link, edge_scores(ex)) for link, ex in found.items()]
    by_path = [reference.auc(link, path_scores(ex)) for link, ex in found.items()]
    assert np.mean(by_edge) == pytest.approx(0.880, abs=0.005)
    assert np.mean(by_path) == pytest.approx(0.959, abs=0.005)


def test_page_link_committed_row_has_the_published_numbers() -> None:
    names, values = (line.split(",") for line in RESULTS.read_text().splitlines())
    row = dict(zip(names, values, strict=True))
    assert row["links"] == "129"
    assert float(row["auc_edges"]) == pytest.approx(0.880, abs=0.01)
    assert float(row["auc_paths"]) == pytest.approx(0.959, abs=0.01)
