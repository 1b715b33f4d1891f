import pytest
import torch
from torch_geometric.data import Data, HeteroData

from eigsearch.app.items import Items, items_of
from eigsearch.errors import InputError
from eigsearch.parallel.run_to_directory import as_source


def typed_graph() -> HeteroData:
    data = HeteroData()
    data["user"].x, data["item"].x = torch.ones(3, 2), torch.ones(4, 2)
    data["user", "buys", "item"].edge_index = torch.tensor([[0, 1, 2], [1, 2, 3]])
    data["item", "rev_buys", "user"].edge_index = torch.tensor([[1, 2, 3], [0, 1, 2]])
    return data


def plain_graph(**fields) -> Data:
    return Data(x=torch.ones(4, 1), edge_index=torch.tensor([[0, 1], [1, 0]]), **fields)


def items(data, **keywords) -> Items:
    return items_of(data, as_source(data), **keywords)


def test_graph_that_lists_links_is_about_links_with_their_labels():
    found = items(plain_graph(edge_label_index=torch.tensor([[0, 2], [1, 3]]), y=torch.ones(2)))
    assert (found.level, list(found.names)) == ("link", [(0, 1), (2, 3)])
    assert found.labels.tolist() == [1, 1]
    assert found.row((2, 3)) == 1
    assert found.row((3, 2)) is None


def test_chosen_links_take_the_labels_of_listed_ones():
    data = plain_graph(edge_label_index=torch.tensor([[0, 2], [1, 3]]), y=torch.tensor([0, 1]))
    labels = items(data, links=[(2, 3), (1, 2)]).labels.tolist()
    assert labels[0] == 1
    assert labels[1] != labels[1]


def test_typed_links_have_the_types_of_the_edge_type_that_lists_them():
    data = typed_graph()
    data["user", "buys", "item"].edge_label_index = torch.tensor([[0], [3]])
    found = items(data)
    assert list(found.names) == [(("user", 0), ("item", 3))]
    assert found.find("1,2") == (("user", 1), ("item", 2))
    assert found.find("user:1 item:2") == (("user", 1), ("item", 2))
    assert found.address(0) == {"link": (("user", 0), ("item", 3))}
    assert found.title(0) == "Link user 0–item 3"


def test_typed_nodes_are_those_with_labels_or_of_the_named_type():
    data = typed_graph()
    data["item"].y = torch.tensor([0, 1, 0, 1])
    assert items(data).names[1] == ("item", 1)
    assert items(data).find("2") == ("item", 2)
    assert len(items(data, node_type="user")) == 3


@pytest.mark.parametrize("node_type", [None, "film"])
def test_typed_nodes_of_an_unknown_type_raise(node_type):
    with pytest.raises(InputError, match=r"type of the nodes.*user, item"):
        items(typed_graph(), node_type=node_type)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (plain_graph(), "9"),
        (plain_graph(), "paper:1"),
        (plain_graph(), "<b>"),
        (plain_graph(edge_label_index=torch.tensor([[0], [1]])), "3"),
        (plain_graph(edge_label_index=torch.tensor([[0], [1]])), "1,2,3"),
    ],
)
def test_find_of_what_is_no_item_raises(data, text):
    with pytest.raises(InputError, match="Expected"):
        items(data).find(text)
