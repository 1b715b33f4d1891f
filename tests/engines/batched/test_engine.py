"""The batched engine when memory is short, and when a model fails for another reason."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import global_add_pool

import eigsearch
from eigsearch.errors import ModelError
from tests.nets import house, make_net


def plain() -> Data:
    data = house()
    return Data(x=data.x, edge_index=data.edge_index)


class Small(nn.Module):
    """Runs out of memory above some number of nodes."""

    def __init__(self, limit: int, message: str = "CUDA out of memory") -> None:
        super().__init__()
        self.net, self.limit, self.message = make_net(), limit, message
        self.sizes = [0]  # in a list, which a pipeline does not restore

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        if x.size(0) > self.limit:
            raise torch.OutOfMemoryError(self.message)
        self.sizes.append(x.size(0))
        return self.net(x, edge_index, batch=batch)


@pytest.mark.parametrize("limit", [9, 10, 25, 80])
def test_batched_engine_out_of_memory_error_halves_the_batch_and_goes_on(limit: int) -> None:
    model = Small(limit)
    dataset = [plain(), plain()]
    expected = eigsearch.explain(model.net, plain())
    for ex in eigsearch.explain_dataset(model, dataset, engine="batched"):
        torch.testing.assert_close(ex.edge_score, expected.edge_score)
        assert torch.equal(ex.edge_mask, expected.edge_mask)
    assert 9 <= max(model.sizes) <= limit


def test_batched_engine_one_candidate_that_does_not_fit_raises() -> None:
    with pytest.raises(ModelError, match=r"^Expected .*fit into memory"):
        eigsearch.explain(Small(5), plain(), engine="batched")


def test_batched_engine_another_error_of_the_model_is_left_alone() -> None:
    class Broken(nn.Module):
        def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
            raise RuntimeError("a shape does not match")

    with pytest.raises(RuntimeError, match="a shape does not match"):
        eigsearch.explain(Broken(), plain())


def test_batched_engine_budget_below_one_graph_takes_one_candidate_per_call() -> None:
    sizes = []

    def model(x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        sizes.append(int(batch.max()) + 1)
        return global_add_pool(x, batch)

    eigsearch.explain(model, plain(), max_batch_nodes=4, engine="batched")
    assert set(sizes) == {1}
