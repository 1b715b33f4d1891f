import torch
from torch_geometric.data import Data

from eigsearch.visualization.links import Link, links_of
from tests.visualization.samples import explained, graph


def directed(edges, num_nodes, **fields):
    data = Data(edge_index=torch.tensor(edges).t(), num_nodes=num_nodes)
    return links_of(explained(data, size=1, groups="directed", **fields))


def test_both_directions_of_an_edge_are_one_line():
    links = links_of(explained(graph([(0, 1), (1, 2)]), size=1))
    assert links == [Link(0, 1, 0), Link(1, 2, 1)]


def test_a_directed_edge_has_an_arrow_from_its_source_to_its_target():
    assert directed([(1, 0), (1, 2)], 3) == [Link(1, 0, 0, arrow=True), Link(1, 2, 1, arrow=True)]


def test_opposite_edges_of_a_directed_graph_bend_to_different_sides():
    forth, back = directed([(0, 1), (1, 0), (1, 2)], 3)[:2]
    # Bends are as seen from the start, so equal ones lie on opposite sides of the line.
    assert (forth.start, back.start) == (0, 1)
    assert forth.bend == back.bend != 0


def test_parallel_edges_and_self_loops_each_have_a_line():
    links = links_of(explained(graph([(0, 1), (0, 1), (1, 1)]), size=1))
    assert [link[:2] for link in links].count((0, 1)) == 2
    assert len({link.bend for link in links if link[:2] == (0, 1)}) == 2
    assert sum(link[:2] == (1, 1) for link in links) >= 1


def test_an_edge_that_is_never_removed_belongs_to_no_group():
    partition = torch.tensor([0, 0, -1, -1])
    links = links_of(explained(graph([(0, 1), (1, 2)]), groups=partition, score=[1.0], size=1))
    assert [link.group for link in links] == [0, -1]


def test_a_group_of_several_edges_keeps_them_all():
    partition = torch.tensor([0, 0, 0, 0, 1, 1])
    data = graph([(0, 1), (1, 2), (2, 3)])
    links = links_of(explained(data, groups=partition, score=[2.0, 1.0], size=1))
    assert [link.group for link in links] == [0, 0, 1]
