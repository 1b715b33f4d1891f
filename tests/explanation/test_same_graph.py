from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch_geometric.data import Data

import eigsearch
from eigsearch.errors import InputError
from eigsearch.explanation.same_graph import check_same_graph
from tests.nets import house, make_net

EDGES = torch.tensor([[0, 1, 2], [1, 2, 0]])


def graph(edges: torch.Tensor = EDGES, nodes: int = 3) -> Data:
    return Data(edge_index=edges, num_nodes=nodes)


def explained(node: int | None = None) -> eigsearch.SubgraphExplanation:
    model = make_net(pool="mean" if node is None else None)
    return eigsearch.explain(model, house(), node=node, sparsity=0.3)


@pytest.mark.parametrize("node", [None, 2])
def test_load_with_another_graph_raises(node: int | None, tmp_path: Path) -> None:
    path = explained(node).save(tmp_path / "explanation.json")
    fewer, other, larger = house(), house(), house()
    fewer.edge_index = fewer.edge_index[:, :-2]
    other.edge_index = other.edge_index.flip(1)
    larger.x = torch.cat([larger.x, larger.x])
    for graph in (fewer, other, larger):
        with pytest.raises(InputError, match="graph that was explained, which has 9 nodes"):
            eigsearch.SubgraphExplanation.load(path, graph)


def test_check_same_graph_the_same_edges_pass() -> None:
    check_same_graph(graph(), graph(EDGES))
    check_same_graph(graph(EDGES.int()), graph(EDGES))


@pytest.mark.parametrize(
    ("edges", "nodes"), [(EDGES, 4), (EDGES.flip(1), 3), (EDGES[:, :2], 3), (EDGES[:, :0], 3)]
)
def test_check_same_graph_other_nodes_or_edges_raise(edges: torch.Tensor, nodes: int) -> None:
    with pytest.raises(InputError, match="which has 3 nodes"):
        check_same_graph(graph(edges, nodes), graph(EDGES))


def test_check_same_graph_part_of_the_edges_is_compared_where_it_stands() -> None:
    part = torch.tensor([0, 2])
    check_same_graph(graph(), graph(EDGES[:, part]), part)
    check_same_graph(graph(), graph(EDGES[:, :0]), part[:0])
    for wrong in (torch.tensor([0, 1]), torch.tensor([0, 3])):
        with pytest.raises(InputError, match="another graph"):
            check_same_graph(graph(), graph(EDGES[:, part]), wrong)
