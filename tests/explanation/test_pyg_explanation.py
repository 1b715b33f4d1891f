from __future__ import annotations

import torch

import eigsearch
from eigsearch.explanation.pyg_explanation import EdgeInducedExplanation, combine
from tests.nets import house, make_net


def test_combine_one_summary_stays_as_it_is() -> None:
    assert combine([{"size": 3, "gain": 0.5}]) == {"size": 3, "gain": 0.5}
    assert combine([]) == {}


def test_combine_several_summaries_become_vectors_and_a_list_of_curves() -> None:
    found = combine([{"size": 3, "curve": "first"}, {"size": 5, "curve": "second"}])
    assert found["size"].tolist() == [3, 5]
    assert found["curve"] == ["first", "second"]


def test_explanation_numbers_as_many_as_nodes_are_not_cut_with_them() -> None:
    """PyG goes by the length alone: nine gains beside nine nodes would be gains of nodes."""
    data = house()
    found = EdgeInducedExplanation(
        x=data.x, edge_index=data.edge_index, gain=torch.rand(9), size=torch.arange(18)
    )
    assert found.is_node_attr("x")
    assert not found.is_node_attr("gain")
    assert not found.is_edge_attr("size")


def test_size_is_the_number_of_groups_and_not_of_nodes() -> None:
    ex = eigsearch.explain(make_net(), house())
    assert ex.to_pyg().size == ex.size


def test_threshold_topk_gives_k_edges_the_chosen_first_and_by_score() -> None:
    found = EdgeInducedExplanation(
        edge_index=torch.zeros(2, 6, dtype=torch.long),
        edge_mask=torch.tensor([0.0, 1.0, 0.0, 0.0, 1.0, 0.0]),
        edge_score=torch.tensor([0.9, 0.1, 0.2, 0.5, 0.3, 0.5]),
    )
    for count, edges in ((1, {4}), (2, {1, 4}), (3, {0, 1, 4}), (4, {0, 1, 3, 4})):
        cut = found.threshold("topk", count).edge_mask
        assert set(cut.nonzero().flatten().tolist()) == edges
        hard = found.threshold("topk_hard", count).edge_mask
        assert set(hard.nonzero().flatten().tolist()) == edges
    assert found.threshold("topk", 9).edge_mask.argsort().tolist() == [2, 5, 3, 0, 1, 4]
    assert found.edge_mask.tolist() == [0, 1, 0, 0, 1, 0]
    assert found.threshold("hard", 0.5).edge_mask.tolist() == [0, 1, 0, 0, 1, 0]
