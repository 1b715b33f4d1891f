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
