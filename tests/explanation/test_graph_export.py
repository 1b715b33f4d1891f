from __future__ import annotations

import json

import networkx as nx
import pytest
import torch

import eigsearch
from tests.typed_nets import LinkNet, NodeNet, make, shop
from tests.visualization.samples import ATOMS, MOLECULES, explained, graph, nitrobenzene


def test_to_networkx_has_the_chosen_edges_and_their_ranks():
    explanation = explained(nitrobenzene(), size=3)
    found = explanation.to_networkx()
    kept = {edge for edge, is_kept in nx.get_edge_attributes(found, "kept").items() if is_kept}
    assert kept == set(
        map(tuple, explanation.data.edge_index[:, explanation.edge_mask].t().tolist())
    )
    ranks = nx.get_edge_attributes(found, "rank")
    assert sorted(set(ranks.values())) == list(range(1, explanation.num_groups + 1))
    assert found.number_of_nodes() == 9


def test_to_networkx_of_a_node_has_its_computation_graph_alone():
    data = graph([(0, 1), (1, 2), (2, 3), (3, 4)])
    edges = torch.arange(4)
    explanation = explained(graph([(0, 1), (1, 2)]), size=1, node=1)
    explanation = type(explanation)(**{**vars(explanation), "data": data, "edges": edges})
    found = explanation.to_networkx()
    assert sorted(found) == [0, 1, 2]
    assert [node for node, is_it in found.nodes(data="explained") if is_it] == [1]


@pytest.mark.parametrize("suffix", ["graphml", "cyjs"])
def test_save_as_a_graph_for_other_programs_reads_back(suffix, tmp_path):
    explanation = explained(nitrobenzene(), size=3)
    path = explanation.save(tmp_path / f"graph.{suffix}", MOLECULES)
    if suffix == "graphml":
        found = nx.read_graphml(path, node_type=int)
    else:
        found = nx.cytoscape_graph(json.loads(path.read_text()))
    assert [found.nodes[node]["label"] for node in range(9)] == [
        ATOMS[label] for label in explanation.data.node_label.tolist()
    ]
    assert sum(nx.get_edge_attributes(found, "kept").values()) == 6


def test_to_networkx_of_a_typed_link_names_types_relations_and_both_ends():
    link = (("user", 0), ("item", 2))
    data = shop()
    data["user", "likes", "item"].edge_index = torch.tensor([[0, 2], [0, 2]])  # beside `buys`
    explanation = eigsearch.explain(make(LinkNet, "HeteroConv SAGE", data), data, link=link)
    found = explanation.to_networkx()
    assert {node for node, is_it in found.nodes(data="explained") if is_it} == set(link)
    kept = [tuple(edge) for *edge, is_kept in found.edges(data="kept") if is_kept]
    assert len(kept) == sum(explanation.sizes_by_type.values())
    relations = {
        edge["relation"] for edge in found.get_edge_data(("user", 0), ("item", 0)).values()
    }
    assert relations == {"buys", "likes"}
    assert found.nodes["user", 0]["type"] == "user"


def test_to_networkx_of_a_link_marks_both_ends():
    explanation = explained(graph([(0, 1), (1, 2)]), size=1)
    explanation = type(explanation)(**{**vars(explanation), "link": (0, 2)})
    found = explanation.to_networkx()
    assert [node for node, is_it in found.nodes(data="explained") if is_it] == [0, 2]


@pytest.mark.parametrize("suffix", ["graphml", "cyjs"])
def test_save_a_typed_graph_for_other_programs_reads_back(suffix, tmp_path):
    explanation = eigsearch.explain(make(NodeNet, "HGT"), shop(), node=("user", 0))
    path = explanation.save(tmp_path / f"graph.{suffix}")
    if suffix == "graphml":
        found = nx.read_graphml(path)
    else:
        found = nx.cytoscape_graph(json.loads(path.read_text()))
    assert found.nodes["user 0"]["explained"]
    assert found.number_of_edges() == explanation.group.numel()
