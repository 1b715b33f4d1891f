"""Which engine `auto` takes: the batched one for few nodes in all candidates, else incremental."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch_geometric.data import Data

import eigsearch
from tests.nets import FEATURES, make_net


class Flipped(torch.nn.Module):
    """A network that flips all nodes twice, which the incremental engine does not serve."""

    def __init__(self) -> None:
        super().__init__()
        self.net = make_net("GIN")

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor, batch: torch.Tensor) -> Any:
        return self.net(x.flip(0).flip(0), edge_index, batch=batch)


def ring(nodes: int, seed: int = 0) -> Data:
    generator = torch.Generator().manual_seed(seed)
    forth = torch.arange(nodes)
    ends = torch.stack([forth, (forth + 1) % nodes])
    x = torch.randn(nodes, FEATURES, generator=generator, dtype=torch.float64)
    return Data(x=x, edge_index=torch.cat([ends, ends.flip(0)], dim=1))


@pytest.mark.parametrize(("nodes", "engine"), [(12, "batched"), (80, "incremental")])
def test_evaluator_auto_of_one_graph_goes_by_the_nodes_of_all_candidates(
    nodes: int, engine: str
) -> None:
    found = eigsearch.explain(make_net("GIN"), ring(nodes))
    assert found.engine == engine
    assert bool(found.config["why_engine"]) == (engine == "batched")


def test_evaluator_auto_of_many_small_graphs_is_incremental_and_gives_what_each_gives_alone() -> (
    None
):
    model, graphs = make_net("GIN"), [ring(12, seed) for seed in range(30)]
    together = list(eigsearch.explain_dataset(model, graphs, progress=False))
    assert {found.engine for found in together} == {"incremental"}
    for found, data in zip(together, graphs, strict=True):
        alone = eigsearch.explain(model, data)
        assert torch.equal(found.keep, alone.keep)
        assert found.value == pytest.approx(alone.value, abs=1e-6)


def test_evaluator_auto_of_a_search_with_many_candidates_changes_engines_and_not_the_answer() -> (
    None
):
    model, data = make_net("GIN"), ring(14)
    found = eigsearch.explain(model, data, search="exhaustive", sparsity=0.7)
    plain = eigsearch.explain(model, data, search="exhaustive", sparsity=0.7, engine="batched")
    assert found.engine == "batched"
    assert torch.equal(found.keep, plain.keep)


@pytest.mark.parametrize("engine", ["auto", "incremental"])
def test_evaluator_model_that_is_not_served_is_told_the_operation_and_what_to_expect(
    engine: str,
) -> None:
    found = eigsearch.explain(Flipped(), ring(80), engine=engine)
    why = found.config["why_engine"]
    assert found.engine == "batched"
    assert why == (
        "`flip`: The model computes across nodes or edges, not on each one alone. The batched "
        "engine takes over, which may take longer but changes no answer."
    )
    noted = f"The incremental engine was not used. {why}" in found.note
    assert noted == (engine == "incremental")
