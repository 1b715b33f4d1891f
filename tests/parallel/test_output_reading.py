"""Outputs are read alike in every shard, as one process reads them."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import eigsearch
from eigsearch.datasets import generate
from eigsearch.errors import AmbiguousOutputError
from eigsearch.options import Options
from eigsearch.parallel.output_reading import with_reading
from eigsearch.parallel.run_to_directory import as_source, make_plan
from eigsearch.parallel.worker import ExplainJob
from tests.parallel.networks import Small


class Halved(Small):
    """Returns numbers from 0 to 1 that are neither sigmoids nor probabilities."""

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        out = super().forward(x, edge_index, batch)
        return 0.5 + out / (3 + 2 * out.abs())


def test_with_reading_of_labels_in_the_first_shard_decides_for_all() -> None:
    graphs = [graph.clone() for graph in generate("BA-2Motifs").graphs[:40]]
    for number, graph in enumerate(graphs):
        graph.y = torch.tensor([[1.0, 1.0]]) if number < 32 else None
    tasks = [ex.config["task"] for ex in eigsearch.explain_dataset(Small(), graphs, workers=1)]
    assert tasks == ["binary_classification"] * 40
    assert tasks == [ex.config["task"] for ex in eigsearch.explain_dataset(Small(), graphs)]


def test_with_reading_of_what_the_user_says_asks_no_model() -> None:
    job = ExplainJob(Small(), Options(task="multiclass", return_type="raw"))
    plan = make_plan(as_source(generate("BA-2Motifs").graphs[:2]), None, None, None, None)
    assert with_reading(job, plan) is job


@pytest.mark.parametrize("workers", [None, 1])
def test_explain_dataset_of_outputs_with_two_readings_asks_before_any_explanation(
    workers: int | None,
) -> None:
    graphs = generate("BA-2Motifs").graphs[480:520]
    with pytest.raises(AmbiguousOutputError, match="return_type="):
        list(eigsearch.explain_dataset(Halved(), graphs, workers=workers, on_error="skip"))
