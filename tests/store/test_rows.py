"""A row holds everything of an explanation but the features."""

from __future__ import annotations

import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.nn import GCN

import eigsearch
from eigsearch.datasets import generate
from eigsearch.errors import InputError
from eigsearch.models import zoo
from eigsearch.store.formats import parquet_to_rows, rows_to_parquet
from eigsearch.store.rows import RowKey, chosen_edges, explanation_of, to_row

GRAPHS = generate("BA-2Motifs").graphs


def roundtrip(explanation, data=None):
    (row,) = parquet_to_rows(rows_to_parquet([to_row(RowKey(0, explanation.node), explanation)]))
    return explanation_of(row, explanation.config, data)


def test_a_graph_comes_back_as_it_was() -> None:
    model, _ = zoo.load("BA-2Motifs", "gin")
    explanation = eigsearch.explain(model, GRAPHS[0])
    assert roundtrip(explanation).to_dict() == explanation.to_dict()
    assert roundtrip(explanation, GRAPHS[0]).data is GRAPHS[0]


def test_a_node_brings_its_computation_graph_alone() -> None:
    graph = generate("Tree-Grid")[0]
    torch.manual_seed(0)
    model = GCN(10, 8, 1, 2).eval()
    explanation = eigsearch.explain(model, graph, node=511)
    assert roundtrip(explanation, graph).to_dict() == explanation.to_dict()
    alone = roundtrip(explanation)
    assert alone.data.num_edges == explanation.edges.numel() < graph.num_edges
    pairs = graph.edge_index[:, explanation.edge_mask]
    assert torch.equal(alone.data.edge_index[:, alone.edge_mask], pairs)


def test_a_row_is_not_joined_with_another_graph() -> None:
    model, _ = zoo.load("BA-2Motifs", "gin")
    explanation = eigsearch.explain(model, GRAPHS[0])
    with pytest.raises(InputError, match="graph that was explained"):
        roundtrip(explanation, GRAPHS[1])


@pytest.mark.parametrize("change", [lambda e: e[:, :50], lambda e: e.flip(1)])
def test_a_row_of_a_node_is_not_joined_with_another_graph(change) -> None:
    graph = generate("Tree-Grid")[0]
    torch.manual_seed(0)
    explanation = eigsearch.explain(GCN(10, 8, 1, 2).eval(), graph, node=511)
    other = graph.clone()
    other.edge_index = change(graph.edge_index)
    with pytest.raises(InputError, match="graph that was explained"):
        roundtrip(explanation, other)


def test_a_node_without_edges_comes_back() -> None:
    lonely = Data(x=torch.ones(3, 10), edge_index=torch.tensor([[0], [1]]))
    torch.manual_seed(0)
    explanation = eigsearch.explain(GCN(10, 8, 1, 2).eval(), lonely, node=2)
    assert torch.equal(roundtrip(explanation, lonely).edge_mask, explanation.edge_mask)


def test_a_regression_keeps_its_value() -> None:
    def model(x, edge_index, batch):
        ends = torch.bincount(batch[edge_index[0]], minlength=int(batch.max()) + 1)
        return ends[:, None] * 1.5

    explanation = eigsearch.explain(model, GRAPHS[1], task="regression")
    again = roundtrip(explanation)
    assert again.prediction == explanation.prediction == 1.5 * GRAPHS[1].num_edges
    assert again.sentence() == explanation.sentence()


def test_a_graph_without_edges_says_so_again() -> None:
    lonely = Data(x=torch.ones(3, 10), edge_index=torch.zeros(2, 0, dtype=torch.long))
    model, _ = zoo.load("BA-2Motifs", "gin")
    explanation = eigsearch.explain(model, lonely)
    again = roundtrip(explanation)
    assert again.note == explanation.note != ""
    assert again.size == 0
    assert "gain" not in to_row(RowKey(0), explanation)


def test_chosen_edges_are_the_edges_of_the_masks() -> None:
    model, _ = zoo.load("BA-2Motifs", "gin")
    lonely = Data(x=torch.ones(3, 10), edge_index=torch.zeros(2, 0, dtype=torch.long))
    graphs = [GRAPHS[0], lonely, GRAPHS[500]]
    found = list(eigsearch.explain_dataset(model, graphs))
    pairs = [ex.data.edge_index[:, ex.edge_mask].t().tolist() for ex in found]
    assert chosen_edges([to_row(RowKey(i), ex) for i, ex in enumerate(found)]) == pairs
    assert chosen_edges([]) == []
