from __future__ import annotations

import pytest
import torch
from torch_geometric.data import Data

from eigsearch.errors import InputError
from eigsearch.inputs.attributes import attribute_level, check_levels, level_by_lengths


def graph(nodes: int, edges: int, **attributes: torch.Tensor) -> Data:
    edge_index = torch.arange(2 * edges).view(2, edges) % nodes
    return Data(x=torch.zeros(nodes, 2), edge_index=edge_index, **attributes)


@pytest.mark.parametrize(
    ("length", "level"), [(4, "node"), (6, "edge"), (1, "graph"), (3, "graph")]
)
def test_attribute_level_by_its_length_is_that_of_nodes_edges_or_graph(
    length: int, level: str
) -> None:
    assert attribute_level(graph(4, 6, value=torch.zeros(length)), "value") == (level, 0)


@pytest.mark.parametrize("value", [torch.tensor(1.0), "text", 3])
def test_attribute_level_without_rows_is_the_graph(value: object) -> None:
    data = graph(4, 6)
    data.value = value
    assert attribute_level(data, "value") == ("graph", 0)


def test_attribute_level_known_name_is_the_node_though_edges_are_as_many() -> None:
    assert attribute_level(graph(4, 4, pos=torch.zeros(4, 3)), "pos") == ("node", 0)


def test_attribute_level_one_row_beside_one_edge_is_the_graph() -> None:
    data = graph(4, 1, value=torch.zeros(1), edge_value=torch.zeros(1))
    assert attribute_level(data, "value")[0] == "graph"
    assert attribute_level(data, "edge_value")[0] == "edge"


def test_attribute_level_leaves_the_graph_as_it_was() -> None:
    data = graph(4, 6, value=torch.zeros(4))
    before = dict(data._store.__dict__)
    attribute_level(data, "value")
    assert data._store.__dict__.keys() == before.keys()


@pytest.mark.parametrize(
    ("lengths", "level"),
    [((4, 5), "node"), ((6, 7), "edge"), ((1, 2), "graph"), ((4, 4), "graph"), ((3, 3), None)],
)
def test_level_by_lengths_of_two_graphs_is_what_their_sizes_tell(
    lengths: tuple[int, int], level: str | None
) -> None:
    graphs = [
        graph(nodes, edges, value=torch.zeros(length))
        for nodes, edges, length in zip((4, 5), (6, 7), lengths, strict=True)
    ]
    assert level_by_lengths("value", graphs) == level


def test_level_by_lengths_of_graphs_of_one_size_is_open() -> None:
    graphs = [graph(4, 6, value=torch.zeros(4)) for _ in range(2)]
    assert level_by_lengths("value", graphs) is None


def test_check_levels_unknown_level_raises() -> None:
    check_levels(None)
    check_levels({"value": "edge"})
    with pytest.raises(InputError, match="'bond' for 'value'"):
        check_levels({"value": "bond"})
