"""Two-Ways: links that one of two kinds of path decides, and a network that knows which."""

from __future__ import annotations

import pytest
import torch
from torch_geometric.data import HeteroData
from torch_geometric.utils import degree

from eigsearch import datasets
from eigsearch.datasets.link_truth import link_truth
from eigsearch.datasets.no_model_rules import structure_of
from eigsearch.datasets.two_ways import DISTRACTORS, JOINS, KINDS
from eigsearch.models import zoo


@pytest.fixture(scope="module")
def data() -> HeteroData:
    return datasets.generate("Two-Ways")[0]


def paths_by_inner_type(data: HeteroData, link: int) -> tuple[str, dict[str, int]]:
    """How the user reaches items, and the number of paths through each inner type."""
    user, item = data.edge_label_index[:, link].tolist()
    (relation,) = [kind for kind, *_ in KINDS if bool((data[kind].edge_index[0] == user).any())]
    reached = data[relation].edge_index[1][data[relation].edge_index[0] == user]
    found = {}
    for inner, kind in JOINS.items():
        nodes, items = data[kind].edge_index
        ours = nodes[torch.isin(items, reached)]
        found[inner] = int(torch.isin(ours, nodes[items == item]).sum())
    return relation[1], found


def test_two_ways_label_is_decided_by_the_paths_of_the_users_kind(data: HeteroData) -> None:
    deciding = {kind[1]: (inner, other) for kind, inner, other in KINDS}
    for link in range(80):
        relation, paths = paths_by_inner_type(data, link)
        inner, other = deciding[relation]
        assert paths[other] == DISTRACTORS
        assert paths[inner] in ((1, 2) if int(data.y[link]) else (0,))


def test_two_ways_truth_is_the_deciding_paths(data: HeteroData) -> None:
    structure, first = structure_of(data)
    for link in range(2, 80, 4):
        assert int(data.y[link]) == 1
        truth = torch.cat(list(link_truth(data, link).values())).numpy()
        user, item = data.edge_label_index[:, link].tolist()
        ends = (first["user"] + user, first["item"] + item)
        _, paths = paths_by_inner_type(data, link)
        decisive = sum(paths.values()) - DISTRACTORS
        assert truth.sum() == 3 * 2 * decisive
        assert structure.in_edges(ends, hops=2)[truth].all()
    for link in range(0, 80, 4):
        assert not any(mask.any() for mask in link_truth(data, link).values())


def test_two_ways_inner_nodes_of_true_and_other_paths_have_equal_degrees(data: HeteroData) -> None:
    shares = []
    for inner, kind in JOINS.items():
        nodes = data[kind].edge_index[0]
        shared = degree(nodes, data[inner].num_nodes) > 2
        true = data[kind].link_truth[1]
        shares += [float(shared[nodes[true]].float().mean()), float(shared[nodes].float().mean())]
    assert shares[0] == pytest.approx(shares[1], abs=0.08)
    assert shares[2] == pytest.approx(shares[3], abs=0.08)


def test_zoo_network_is_accurate_and_needs_the_true_paths(data: HeteroData) -> None:
    model, card = zoo.load("Two-Ways", "hetero")
    assert card.accuracy.test >= 0.95
    flips = []
    with torch.no_grad():
        for link in data.y.nonzero().flatten().tolist()[:100]:
            truth = link_truth(data, link)
            edges = {kind: data[kind].edge_index[:, ~truth[kind]] for kind in data.edge_types}
            scores = model(data.x_dict, edges, data.edge_label_index[:, [link]])
            flips.append(int(scores.argmax()) == 0)
    assert sum(flips) / len(flips) >= 0.9
