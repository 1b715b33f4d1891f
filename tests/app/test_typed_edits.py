"""Edits of typed graphs and of graphs that list links, against graphs that are built by hand."""

import pytest
import torch
from torch_geometric.data import Data, HeteroData

from eigsearch.app.edge_keys import EdgeKeys
from eigsearch.app.edits import GraphEdits
from eigsearch.errors import InputError


def graph() -> HeteroData:
    """Users 0 to 2 are nodes 0 to 2, items 0 to 3 are nodes 3 to 6."""
    data = HeteroData()
    data["user"].x, data["item"].x = torch.arange(6.0).reshape(3, 2) + 1, torch.ones(4, 2)
    data["user", "buys", "item"].edge_index = torch.tensor([[0, 1, 2], [1, 2, 3]])
    data["user", "buys", "item"].edge_attr = torch.tensor([[1.0], [5.0], [5.0]])
    data["item", "rev_buys", "user"].edge_index = torch.tensor([[1, 2, 3], [0, 1, 2]])
    data["user", "views", "item"].edge_index = torch.tensor([[0], [1]])
    data["user", "follows", "user"].edge_index = torch.tensor([[0, 1], [1, 2]])
    data["user", "buys", "item"].edge_label_index = torch.tensor([[0, 2], [3, 0]])
    data["user", "buys", "item"].edge_label = torch.tensor([1.0, 4.5])
    return data


BUYS, REV_BUYS, VIEWS, FOLLOWS = range(4)


def edges(data, kind):
    return data[kind].edge_index.t().tolist()


def test_removed_edge_takes_its_reverse_and_leaves_other_relations():
    edited = GraphEdits(removed_edges=frozenset({(0, 4, BUYS)})).apply(graph()).data
    assert edges(edited, ("user", "buys", "item")) == [[1, 2], [2, 3]]
    assert edges(edited, ("item", "rev_buys", "user")) == [[2, 1], [3, 2]]
    assert edges(edited, ("user", "views", "item")) == [[0, 1]]
    assert edited["user", "buys", "item"].edge_attr.flatten().tolist() == [5, 5]
    assert len(edges(graph(), ("user", "buys", "item"))) == 3


def test_reverse_key_names_the_same_edge():
    keys = EdgeKeys(graph())
    assert keys.canonical((4, 0, REV_BUYS)) == (0, 4, BUYS)
    by_reverse = GraphEdits(removed_edges=frozenset({(4, 0, REV_BUYS)})).apply(graph()).data
    assert edges(by_reverse, ("user", "buys", "item")) == [[1, 2], [2, 3]]


def test_added_edge_comes_with_its_reverse_and_the_commonest_attributes():
    edited = GraphEdits(added_edges=frozenset({(0, 6, BUYS)})).apply(graph()).data
    assert edges(edited, ("user", "buys", "item"))[-1] == [0, 3]
    assert edges(edited, ("item", "rev_buys", "user"))[-1] == [3, 0]
    assert edited["user", "buys", "item"].edge_attr[-1].tolist() == [5]


def test_added_edge_of_a_directed_relation_has_one_direction():
    edited = GraphEdits(added_edges=frozenset({(2, 0, FOLLOWS)})).apply(graph()).data
    assert edges(edited, ("user", "follows", "user")) == [[0, 1], [1, 2], [2, 0]]


def test_removed_node_renumbers_its_type_and_the_links_to_predict():
    edited = GraphEdits(removed_nodes=frozenset({0, 3})).apply(
        graph(), link=(("user", 2), ("item", 3))
    )
    assert edges(edited.data, ("user", "buys", "item")) == [[0, 1], [1, 2]]
    assert edited.subject(link=(("user", 2), ("item", 3))) == {"link": (("user", 1), ("item", 2))}
    listed = edited.data["user", "buys", "item"]
    assert listed.edge_label_index.tolist() == [[], []]
    assert edited.node_ids == [1, 2, 4, 5, 6]


def test_links_to_predict_stay_with_their_labels():
    typed = GraphEdits(removed_nodes=frozenset({3})).apply(graph()).data["user", "buys", "item"]
    assert (typed.edge_label_index.tolist(), typed.edge_label.tolist()) == ([[0], [2]], [1.0])
    pairs = torch.tensor([[0, 1], [1, 0]])  # as many links as edges, and labels as nodes
    data = Data(x=torch.ones(2, 1), edge_index=pairs, edge_label_index=pairs, y=torch.ones(2))
    edited = GraphEdits(removed_edges=frozenset({(0, 1)})).apply(data).data
    assert edited.edge_label_index.tolist() == pairs.tolist()
    assert edited.y.tolist() == [1, 1]
    assert edited.num_edges == 0


def test_zeroed_feature_is_of_the_node_alone():
    edited = GraphEdits(zeroed_features=frozenset({(1, 0)})).apply(graph()).data
    assert edited["user"].x.tolist() == [[1, 2], [0, 4], [5, 6]]
    assert graph()["user"].x[1, 0] == 3


@pytest.mark.parametrize(
    ("edits", "match"),
    [
        (GraphEdits(removed_edges=frozenset({(0, 4)})), "number of an edge type"),
        (GraphEdits(removed_edges=frozenset({(0, 4, 9)})), "number of an edge type"),
        (GraphEdits(removed_edges=frozenset({(0, 1, BUYS)})), "type that the graph has between"),
        (GraphEdits(removed_edges=frozenset({(0, 5, BUYS)})), r"user 0 and item 2 \(buys\)"),
        (GraphEdits(added_edges=frozenset({(0, 4, BUYS)})), "one that is there"),
        (GraphEdits(removed_nodes=frozenset({2})), "explained node to stay"),
        (GraphEdits(zeroed_features=frozenset({(0, 2)})), "feature from 0 to 1"),
        (GraphEdits(zeroed_features=frozenset({(-1, 0)})), "nodes from 0 to 6"),
    ],
)
def test_edits_that_do_not_fit_raise(edits, match):
    with pytest.raises(InputError, match=match):
        edits.apply(graph(), link=(("user", 2), ("item", 0)))
