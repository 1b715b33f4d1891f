"""The benchmarks of speed still fit the code that they measure."""

from __future__ import annotations

import pytest
import torch
from benchmarks.speed import engines, profile
from torch_geometric.data import Data

from eigsearch.datasets import generate
from eigsearch.models import zoo


@pytest.fixture(scope="module")
def graphs() -> list[Data]:
    return list(generate("BA-2Motifs").graphs[498:501])


def test_competitors_of_the_engines_all_run(graphs: list[Data]) -> None:
    model, _ = zoo.load("BA-2Motifs", "gin")
    for run in engines.competitors(model, graphs).values():
        run()


def test_the_bare_forward_takes_all_candidates(graphs: list[Data]) -> None:
    model, _ = zoo.load("BA-2Motifs", "gin")
    batches = engines.candidate_batches(model, graphs)
    explained = list(engines.explain_dataset(model, graphs, **engines.WHOLE))
    expected = sum(ex.num_groups + 2 * len(ex.curve) for ex in explained)
    assert sum(batch.num_graphs for batch in batches) == expected


def test_the_parts_of_a_profile_add_up(graphs: list[Data]) -> None:
    model, _ = zoo.load("BA-2Motifs", "gin")
    with torch.inference_mode():
        parts = profile.parts(lambda: profile.explain_all(model, graphs), lambda: None)
    assert all(seconds >= 0 for seconds in parts.values())
    assert parts["index building"] > 0
    assert parts["tensor work"] > 0
