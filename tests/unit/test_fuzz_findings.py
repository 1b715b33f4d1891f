"""What the long fuzz found (`python -m benchmarks.fuzz`), each as its smallest case."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data

import eigsearch
from tests.nets import house, make_net


class TakesObject(nn.Module):
    """A model that is called with a graph, and may read anything that it carries."""

    def __init__(self) -> None:
        super().__init__()
        self.net = make_net()

    def forward(self, data: Data) -> Tensor:
        out = self.net(data.x, data.edge_index, batch=data.batch)
        return out if data.get("charge") is None else out * data.charge[:, None]


def some_with_more() -> list[Data]:
    """Return graphs of which some carry an attribute that the others lack."""
    graphs = [house(seed) for seed in range(4)]
    graphs[1].charge = graphs[3].charge = 1.5
    return graphs


@pytest.mark.parametrize("engine", ["batched", "incremental"])
def test_graphs_of_a_data_set_may_carry_different_attributes(engine: str) -> None:
    model, graphs = TakesObject(), some_with_more()
    together = eigsearch.explain_dataset(model, graphs, engine=engine)
    for data, found in zip(graphs, together, strict=True):
        alone = eigsearch.explain(model, data, engine=engine)
        torch.testing.assert_close(found.edge_score, alone.edge_score)
        assert torch.equal(found.edge_mask, alone.edge_mask)
