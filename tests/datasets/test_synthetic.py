import random

import numpy as np
import pytest
import torch
from numpy.random import RandomState
from torch_geometric.data import Batch
from torch_geometric.datasets import ExplainerDataset
from torch_geometric.datasets import graph_generator as generators
from torch_geometric.datasets import motif_generator as motifs
from torch_geometric.utils import degree

from eigsearch import datasets
from eigsearch.datasets import graph_generators

SYNTHETIC = ("BA-2Motifs", "BA-Shapes", "BA-Community", "Tree-Grid", "Cycle-House-None")
SIZES = {  # nodes, directed edges, directed motif edges; of published sets those of their files
    "BA-2Motifs": (25_000, 51_000, 11_000),
    "BA-Shapes": (700, 4_110, 960),
    "BA-Community": (1_400, 8_920, 1_920),
    "Tree-Grid": (1_231, 3_130, 1_920),
    "Cycle-House-None": (22_500, 45_000, 6_600),
}


@pytest.fixture(scope="module", params=SYNTHETIC)
def dataset(request):
    return datasets.generate(request.param)


def test_sizes_are_as_described(dataset):
    sizes = (
        sum(graph.num_nodes for graph in dataset),
        sum(graph.num_edges for graph in dataset),
        sum(int(graph.edge_label.sum()) for graph in dataset),
    )
    assert sizes == SIZES[dataset.name]


def test_graphs_are_simple_undirected_and_connected_to_their_labels(dataset):
    for graph in dataset:
        assert graph.validate()
        assert graph.is_undirected()
        assert graph.is_coalesced()
        assert not graph.has_self_loops()
        assert graph.is_edge_attr("edge_label")
        assert graph.x.shape == (graph.num_nodes, dataset.num_features)


def test_ground_truth_marks_both_directions(dataset):
    for graph in dataset:
        marked = set(map(tuple, graph.edge_index[:, graph.edge_label].t().tolist()))
        assert marked == {(v, u) for u, v in marked}


def test_every_class_occurs_and_has_a_name(dataset):
    y = torch.cat([graph.y for graph in dataset])
    assert y.unique().tolist() == list(range(dataset.num_classes))
    assert len(dataset.class_names) == dataset.num_classes


def test_same_seed_same_content_other_seed_other_content(dataset):
    assert datasets.generate(dataset.name).digest == dataset.digest
    assert datasets.generate(dataset.name, seed=1).digest != dataset.digest


def test_generating_leaves_all_global_random_states_alone():
    def states():
        return random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()

    before = states()
    datasets.generate("BA-Community")
    assert states() == before


@pytest.mark.parametrize("name", ["BA-Shapes", "BA-Community", "Tree-Grid"])
def test_each_motif_is_whole_and_its_edges_carry_its_number(name):
    data = datasets.generate(name)[0]
    nodes, edges = (9, 24) if name == "Tree-Grid" else (5, 12)
    motifs = int(data.node_motif.max()) + 1
    assert motifs == (160 if name == "BA-Community" else 80)
    assert (torch.bincount(data.node_motif[data.node_motif >= 0]) == nodes).all()
    assert (torch.bincount(data.edge_motif[data.edge_motif >= 0]) == edges).all()
    assert torch.equal(data.edge_motif >= 0, data.edge_label)
    inside = data.edge_index[:, data.edge_label]
    assert torch.equal(data.node_motif[inside[0]], data.node_motif[inside[1]])
    assert data.is_node_attr("node_motif")
    assert data.is_edge_attr("edge_motif")


def test_a_house_has_two_middles_two_bottoms_and_a_roof():
    data = datasets.generate("BA-Shapes")[0]
    house = data.node_motif == 7
    assert sorted(data.y[house].tolist()) == [1, 1, 2, 2, 3]
    inside = degree(data.edge_index[0, data.edge_label], data.num_nodes)
    assert inside[data.y == 1].unique().tolist() == [3]
    assert inside[data.y > 1].unique().tolist() == [2]


def test_communities_differ_in_features_and_are_joined():
    data = datasets.generate("BA-Community")[0]
    second = data.y >= 4
    assert torch.allclose(data.x[~second, :2].mean(0), torch.tensor([-1.0, -1.0]), atol=0.1)
    assert torch.allclose(data.x[second, :2].mean(0), torch.tensor([1.0, 1.0]), atol=0.1)
    assert data.x[:, 2:].mean(0).abs().max() < 0.1
    across = second[data.edge_index[0]] != second[data.edge_index[1]]
    assert int(across.sum()) == 2 * 350


def test_ba_2motifs_classes_are_cycle_and_house():
    dataset = datasets.generate("BA-2Motifs")
    assert dataset.class_names == ("cycle", "house")
    for graph in (dataset[0], dataset[999]):
        assert int(graph.edge_label.sum()) == (12 if int(graph.y) else 10)
        assert graph.edge_index[:, graph.edge_label].unique().tolist() == [20, 21, 22, 23, 24]


def test_batches_keep_the_ground_truth_in_line_with_the_edges():
    graphs = [datasets.generate("BA-2Motifs")[i] for i in (0, 700)]
    batch = Batch.from_data_list(graphs)
    assert batch.edge_label.tolist() == [mark for g in graphs for mark in g.edge_label.tolist()]


@pytest.mark.parametrize(("nodes", "links"), [(20, 1), (50, 3), (300, 5)])
def test_preferential_attachment_has_its_edges_and_no_doubles(nodes, links):
    edges = graph_generators.preferential_attachment(nodes, links, RandomState(3))
    assert len(edges) == links * (nodes - links)
    assert len(np.unique(np.sort(edges, axis=1), axis=0)) == len(edges)


def test_tree_and_grid_have_the_right_degrees():
    assert len(graph_generators.binary_tree(8)) == 510
    assert sorted(np.bincount(graph_generators.grid(3).ravel()).tolist()) == [2] * 4 + [3] * 4 + [4]


@pytest.mark.parametrize(
    ("name", "graph", "motif"),
    [
        ("BA-Shapes", generators.BAGraph(300, 5), motifs.HouseMotif()),
        ("Tree-Grid", generators.TreeGraph(depth=8), motifs.GridMotif()),
    ],
)
def test_generate_node_set_has_the_counts_of_pyg_explainer_dataset(name, graph, motif):
    """Motifs are compared, bases are not: PyG draws neighbours twice and merges the copies."""
    ours = datasets.generate(name)[0]
    theirs = ExplainerDataset(graph, motif, num_motifs=80)[0]
    assert ours.num_nodes == theirs.num_nodes
    assert int(ours.edge_label.sum()) == int(theirs.edge_mask.sum())
    assert int((ours.node_motif >= 0).sum()) == int(theirs.node_mask.sum())
    inside = [
        degree(data.edge_index[0, mask.bool()], data.num_nodes).sort()[0]
        for data, mask in ((ours, ours.edge_label), (theirs, theirs.edge_mask))
    ]
    assert torch.equal(*inside)
