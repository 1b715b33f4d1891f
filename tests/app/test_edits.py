import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Data
from torch_geometric.utils import is_undirected

from eigsearch.app.edits import MOST_EDITS, GraphEdits
from eigsearch.errors import InputError


def square(**fields):
    """A cycle of four nodes, both directions of every edge."""
    ends = torch.tensor([[0, 1, 1, 2, 2, 3, 3, 0], [1, 0, 2, 1, 3, 2, 0, 3]])
    return Data(
        x=torch.eye(4), edge_index=ends, edge_attr=torch.arange(8.0)[:, None] // 6, **fields
    )


def pairs(data):
    return sorted(map(tuple, data.edge_index.t().tolist()))


def test_apply_removed_edge_of_undirected_graph_removes_both_directions():
    edited = GraphEdits(removed_edges=frozenset({(2, 1)})).apply(square())
    assert pairs(edited.data) == [(0, 1), (0, 3), (1, 0), (2, 3), (3, 0), (3, 2)]
    assert edited.data.edge_attr.size(0) == 6
    assert edited.node_ids == [0, 1, 2, 3]


def test_apply_removed_edge_of_directed_graph_removes_one_direction():
    graph = Data(x=torch.eye(3), edge_index=torch.tensor([[0, 1, 1], [1, 0, 2]]))
    edited = GraphEdits(removed_edges=frozenset({(1, 0)})).apply(graph)
    assert pairs(edited.data) == [(0, 1), (1, 2)]


def test_apply_added_edge_gets_the_most_common_attributes():
    edited = GraphEdits(added_edges=frozenset({(0, 2)})).apply(square()).data
    assert pairs(edited)[1] == (0, 2)
    assert is_undirected(edited.edge_index)
    assert edited.edge_attr[-2:].flatten().tolist() == [0.0, 0.0]  # six of eight are zero


def test_apply_added_edge_to_graph_without_edges_has_zero_attributes():
    empty = Data(x=torch.eye(2), edge_index=torch.empty(2, 0).long(), edge_attr=torch.ones(0, 3))
    edited = GraphEdits(added_edges=frozenset({(0, 1)})).apply(empty).data
    assert edited.edge_attr.tolist() == [[0.0] * 3] * 2


def test_apply_removed_node_renumbers_and_keeps_the_original_index():
    edited = GraphEdits(removed_nodes=frozenset({1})).apply(square())
    assert edited.node_ids == [0, 2, 3]
    assert pairs(edited.data) == [(0, 2), (1, 2), (2, 0), (2, 1)]
    assert edited.data.x.tolist() == torch.eye(4)[[0, 2, 3]].tolist()


def test_apply_zeroed_feature_changes_one_node_or_all_and_never_the_original():
    graph = square()
    one = GraphEdits(zeroed_features=frozenset({(2, 2)})).apply(graph).data
    assert one.x.sum() == 3
    graph.x += 1
    every = GraphEdits(zeroed_features=frozenset({(-1, 0)})).apply(graph).data
    assert every.x[:, 0].tolist() == [0.0] * 4
    assert graph.x.min() == 1


@pytest.mark.parametrize(
    ("edits", "said"),
    [
        ({"removed_edges": [[0, 2]]}, "an edge between nodes 0 and 2"),
        ({"removed_edges": [[0, 9]]}, "nodes from 0 to 3"),
        ({"added_edges": [[0, 1]]}, "one that is there"),
        ({"added_edges": [[1, 1]]}, "a loop"),
        ({"removed_nodes": [4]}, "nodes from 0 to 3"),
        ({"removed_nodes": [-1]}, "nodes from 0 to 3"),
        ({"removed_nodes": [0, 1, 2, 3]}, "at least one node"),
        ({"zeroed_features": [[0, 4]]}, "a feature from 0 to 3"),
        ({"zeroed_features": [[-2, 0]]}, "nodes from 0 to 3"),
    ],
)
def test_apply_edit_that_does_not_fit_raises_a_sentence(edits, said):
    with pytest.raises(InputError, match=said):
        GraphEdits.from_json(edits).apply(square())


def test_apply_removal_of_the_explained_node_raises():
    with pytest.raises(InputError, match="explained node to stay"):
        GraphEdits(removed_nodes=frozenset({2})).apply(square(), node=2)


@pytest.mark.parametrize(
    "values",
    [
        [],
        "removed_edges",
        {"__class__": []},
        {"removed_edges": [[0, 1, 2, 3]]},
        {"zeroed_features": [[0, 1, 2]]},
        {"removed_edges": [[0, True]]},
        {"removed_edges": {"0": 1}},
        {"removed_nodes": [[0]]},
        {"removed_nodes": [0.5]},
        {"removed_nodes": [2**60]},
        {"removed_nodes": list(range(MOST_EDITS + 1))},
    ],
)
def test_from_json_malformed_values_raise(values):
    with pytest.raises(InputError):
        GraphEdits.from_json(values)


@given(
    st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)).filter(lambda pair: pair[0] != pair[1]))
)
def test_apply_cut_then_add_of_the_same_pairs_gives_the_same_edges(wanted):
    """Removing an edge and adding it again is the original edge set, whatever the pairs."""
    present = {(0, 1), (1, 2), (2, 3), (0, 3)}
    chosen = {tuple(sorted(pair)) for pair in wanted} & present
    edits = GraphEdits(removed_edges=frozenset(chosen), added_edges=frozenset(chosen))
    assert pairs(edits.apply(square()).data) == pairs(square())
    assert GraphEdits.from_json(json_of(edits)) == edits


def json_of(edits):
    values = edits.to_json()
    return {name: [list(e) if isinstance(e, tuple) else e for e in v] for name, v in values.items()}
