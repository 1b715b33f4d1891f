"""A worker computes where it is told to, and fails as one process would."""

from __future__ import annotations

import pytest
from torch_geometric.data import Data

import eigsearch
from eigsearch.datasets import generate
from eigsearch.errors import InputError
from eigsearch.options import Options
from eigsearch.parallel.run_to_directory import as_source, make_plan
from eigsearch.parallel.worker import ExplainJob
from tests.parallel.networks import Small

GRAPHS = generate("BA-2Motifs").graphs[498:501]


@pytest.mark.parametrize("workers", [None, 1])
def test_an_error_is_of_the_same_kind_in_a_worker_as_in_one_process(workers: int | None) -> None:
    with pytest.raises(InputError, match="`target`"):
        list(eigsearch.explain_dataset(Small(), GRAPHS, target=7, workers=workers))


@pytest.mark.parametrize("device", [None, "cpu"])
def test_the_model_and_the_graphs_go_where_a_worker_computes(
    device: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved: list[tuple[str, str]] = []

    class Movable(Small):
        def to(self, where: str) -> Movable:
            moved.append(("model", where))
            return self

    def to(graph: Data, where: str) -> Data:
        moved.append(("graph", where))
        return graph

    monkeypatch.setattr(Data, "to", to)
    plan = make_plan(as_source(GRAPHS), None, None, None, None)
    worker = ExplainJob(Movable(), Options(), device=device).open()
    (shard,) = plan.shards()
    assert worker(shard).failures == 0
    expected = [("model", "cpu"), *[("graph", "cpu")] * len(GRAPHS)]
    assert moved == ([] if device is None else expected)
