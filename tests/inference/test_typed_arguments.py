from __future__ import annotations

import torch
from torch_geometric.data import Data, HeteroData

from eigsearch.inference.typed_arguments import argument_names, argument_value


def typed() -> HeteroData:
    data = HeteroData()
    data["user"].x, data["item"].x = torch.zeros(2, 1), torch.ones(3, 1)
    data["user", "buys", "item"].edge_index = torch.tensor([[0], [2]])
    data.temperature = 3.5
    return data


def test_argument_names_of_a_typed_graph_are_dicts_and_plain_names() -> None:
    names = argument_names(typed())
    assert {"x", "x_dict", "edge_index_dict", "num_nodes_dict", "temperature"} <= set(names)
    assert "temperature_dict" not in names
    assert argument_names(Data(x=torch.zeros(1, 1))) == ("x",)


def test_argument_value_of_a_typed_graph_is_a_dict_by_type() -> None:
    data = typed()
    for name in ("x", "x_dict"):
        assert set(argument_value(data, name)) == {"user", "item"}
    assert set(argument_value(data, "edge_index_dict")) == {("user", "buys", "item")}
    assert argument_value(data, "num_nodes_dict") == {"user": 2, "item": 3}
    assert argument_value(data, "temperature") == 3.5
    assert argument_value(data, "edge_attr_dict") is None


def test_argument_value_that_a_graph_lacks_is_none() -> None:
    assert argument_value(Data(x=torch.zeros(1, 1)), "edge_attr") is None
