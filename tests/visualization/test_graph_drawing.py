import networkx as nx
import numpy as np
import pytest

from eigsearch.visualization import Names
from eigsearch.visualization.graph_drawing import draw
from eigsearch.visualization.layout import layout
from eigsearch.visualization.link_selection import MOST_LINKS
from tests.visualization.samples import explained, graph


def test_a_layout_is_the_same_each_time_and_keeps_nodes_apart():
    pairs = list(nx.barabasi_albert_graph(30, 2, seed=0).edges)
    once, again = layout(30, pairs), layout(30, pairs)
    assert np.array_equal(once, again)
    gaps = np.linalg.norm(once[:, None] - once[None], axis=2) + 1e9 * np.eye(30)
    assert gaps.min() > 5


def test_components_and_isolated_nodes_do_not_overlap():
    positions = layout(8, [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5)])
    first, second = positions[:3], positions[3:6]
    apart = (first.max(0) < second.min(0)) | (second.max(0) < first.min(0))
    assert apart.any()
    assert len(np.unique(positions.round(3), axis=0)) == 8


def test_a_graph_of_one_node_and_no_edge_is_drawn():
    drawing = draw([explained(graph([(0, 0)]), size=1)], Names())
    assert drawing.nodes == (0,)
    assert len(drawing.links) >= 1


def test_nodes_without_links_are_left_out_where_they_are_many():
    few, many = (
        draw([explained(graph([(0, 1), (1, 2)], num_nodes), size=1)], Names())
        for num_nodes in (5, 50_000)
    )
    assert (few.nodes, many.nodes) == ((0, 1, 2, 3, 4), (0, 1, 2))


def test_a_large_graph_is_drawn_around_its_explanation():
    pairs = list(nx.barabasi_albert_graph(600, 2, seed=1).edges)
    score = np.zeros(len(pairs))
    score[[500, 900]] = 5.0, 4.0
    explanation = explained(graph(pairs), score=score.tolist(), size=2)
    drawing = draw([explanation], Names())
    assert len(drawing.links) <= MOST_LINKS
    assert drawing.hidden == len(pairs) - len(drawing.links)
    assert {500, 900} <= set(drawing.groups)
    together = nx.Graph(link[:2] for link in drawing.links)
    around_first = next(link for link in drawing.links if link.group == 500)
    assert together.degree[around_first.start] + together.degree[around_first.end] > 2


def test_an_explanation_larger_than_the_limit_is_cut_to_it():
    pairs = [(0, i) for i in range(1, 2 * MOST_LINKS)]
    drawing = draw([explained(graph(pairs), size=MOST_LINKS + 50)], Names())
    assert len(drawing.links) == MOST_LINKS


def test_the_explained_node_is_drawn_even_without_edges_of_its_own():
    explanation = explained(graph([(0, 1), (1, 2)], num_nodes=5), size=1, node=4)
    assert 4 in draw([explanation], Names()).nodes


@pytest.mark.parametrize(
    ("names", "label", "listed"),
    [(Names(), "1", "1"), (Names(node_names=("Ann", "Bob", "Cem")), "Bob", "Bob")],
)
def test_nodes_are_called_by_number_or_by_the_name_that_the_user_gives(names, label, listed):
    drawing = draw([explained(graph([(0, 1), (1, 2)]), size=1)], names)
    assert (drawing.labels[1], drawing.names[1]) == (label, listed)


def test_draw_node_of_large_graph_without_data_shows_its_neighbourhood():
    """Rows read without the data set keep the number of nodes of the whole graph."""
    neighbourhood = graph([(7, 8), (8, 9), (9, 7)], num_nodes=50_000)
    drawing = draw([explained(neighbourhood, size=2, node=7)], Names())
    assert drawing.nodes == (7, 8, 9)
