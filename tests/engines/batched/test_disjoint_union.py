"""Disjoint unions against PyG's own batching of subgraphs, extract one by one."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GraphConv

import eigsearch
from eigsearch.candidates import LeaveOneOut, SubgraphKind
from eigsearch.engines.batched.disjoint_union import extract, to_batch
from eigsearch.inputs.instance import PreparedInstance
from tests.instances import prepare_graph, prepare_node
from tests.nets import FEATURES, house


def instance(seed: int = 0) -> PreparedInstance:
    data = house(seed)
    data.u = torch.full((1, 2), float(seed))
    data.dose = 0.5 + seed
    data.mark = torch.arange(data.num_nodes)
    return prepare_graph(data, "auto")


def rows(count: int, width: int, seed: int = 0) -> Tensor:
    return torch.rand(count, width, generator=torch.Generator().manual_seed(seed)) < 0.5


def by_hand(asked: PreparedInstance, row: Tensor, subgraph_kind: SubgraphKind) -> Data:
    data = asked.data.clone()
    if subgraph_kind is SubgraphKind.ZEROED_FEATURES:
        data.x = data.x * row[:, None]
        return data
    if subgraph_kind is SubgraphKind.NODE_INDUCED:
        return data.subgraph(row)
    keep = row[asked.groups.index]
    part = data.edge_subgraph(keep)
    if subgraph_kind is SubgraphKind.EDGE_INDUCED and keep.any():
        ends = torch.zeros(data.num_nodes, dtype=torch.bool)
        ends[part.edge_index.flatten()] = True
        part = part.subgraph(ends)
    return part


@pytest.mark.parametrize("subgraph_kind", SubgraphKind)
def test_disjoint_union_of_candidates_is_what_pyg_would_batch(subgraph_kind: SubgraphKind) -> None:
    instances = [instance(0), instance(1)]
    width = {SubgraphKind.NODE_INDUCED: 9, SubgraphKind.ZEROED_FEATURES: 9}.get(subgraph_kind, 9)
    chosen = [rows(4, width, seed=s) for s in (0, 1)]
    pieces = [extract(q, r, subgraph_kind) for q, r in zip(instances, chosen, strict=True)]
    batch = to_batch(pieces, lambda name: True)
    parts = [
        by_hand(q, row, subgraph_kind) for q, r in zip(instances, chosen, strict=True) for row in r
    ]
    expected = Batch.from_data_list(parts)
    assert batch.num_graphs == 8
    assert batch.num_nodes == expected.num_nodes
    names = ("x", "edge_attr", "edge_weight", "edge_type", "u", "dose", "mark", "batch", "ptr")
    for name in ("edge_index", *names):
        torch.testing.assert_close(batch[name], expected[name], msg=name)


@pytest.mark.parametrize("subgraph_kind", SubgraphKind)
def test_disjoint_union_taken_apart_is_as_a_batch_of_pyg(subgraph_kind: SubgraphKind) -> None:
    instances = [instance(0), instance(1)]
    instances[1].data.u = torch.full((3, 2), 1.0)
    chosen = [rows(4, 9, seed=s) for s in (0, 1)]
    pieces = [extract(q, r, subgraph_kind) for q, r in zip(instances, chosen, strict=True)]
    parts = [
        by_hand(q, row, subgraph_kind) for q, r in zip(instances, chosen, strict=True) for row in r
    ]
    batch, expected = to_batch(pieces, lambda name: True), Batch.from_data_list(parts)
    for number, (found, part) in enumerate(
        zip(batch.to_data_list(), expected.to_data_list(), strict=True)
    ):
        assert type(found) is Data
        assert found.num_nodes == part.num_nodes == batch[number].num_nodes
        assert set(found.keys()) - {"num_nodes"} == set(part.keys()) - {"num_nodes"}
        for name in part.keys():  # noqa: SIM118
            torch.testing.assert_close(found[name], part[name], msg=name)


def test_only_a_model_that_takes_the_object_pays_for_taking_it_apart() -> None:
    piece = extract(instance(), rows(2, 9), SubgraphKind.EDGE_INDUCED)
    assert not hasattr(to_batch([piece], lambda name: name == "x"), "_slice_dict")


def test_without_an_edge_all_nodes_stay() -> None:
    asked = instance()
    piece = extract(
        asked, torch.zeros(1, asked.groups.count, dtype=torch.bool), SubgraphKind.EDGE_INDUCED
    )
    assert piece.nodes.tolist() == list(range(9))
    assert piece.edge_index.size(1) == 0


def test_without_an_edge_an_explained_node_stays_alone() -> None:
    asked = prepare_node(house(), 3)
    none = torch.zeros(1, asked.groups.count, dtype=torch.bool)
    union = extract(asked, none, SubgraphKind.EDGE_INDUCED)
    assert union.nodes.tolist() == list(asked.anchors)


class Averaged(nn.Module):
    """Compares each node with the average of all that it sees."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv = GraphConv(FEATURES, 3).double()

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.conv(x - x.mean(dim=0), edge_index)


@pytest.mark.parametrize("engine", ["batched", "incremental"])
def test_explain_a_node_with_all_its_edges_leaves_the_node_alone_without_them(engine: str) -> None:
    model, data = Averaged().eval(), house()
    ex = eigsearch.explain(
        model, data, node=3, engine=engine, search="fixed", size=99, sparsity=0.0, return_type="raw"
    )
    assert ex.edge_mask.all()
    alone = model(data.x[[3]], torch.zeros(2, 0, dtype=torch.long)).softmax(-1)[0, ex.target]
    assert float(ex.found.removed) == pytest.approx(float(alone.detach()), abs=1e-6)


def test_only_what_the_model_reads_is_copied() -> None:
    asked = instance()
    piece = extract(asked, LeaveOneOut(9).rows(0, 3), SubgraphKind.ALL_NODES)
    batch = to_batch([piece], lambda name: name == "x")
    assert set(batch.keys()) == {"x", "edge_index", "batch", "num_nodes"}
    assert batch.num_graphs == 3


def test_edges_that_are_never_removed_stay_in_every_candidate() -> None:
    partition = torch.tensor([0, -1, 1, 1, -1, 2, 2, 3, 3] * 2)
    asked = prepare_graph(house(), partition)
    piece = extract(asked, torch.zeros(2, 4, dtype=torch.bool), SubgraphKind.EDGE_INDUCED)
    assert piece.edges.tolist() == [1, 4, 10, 13] * 2
    assert piece.nodes.tolist() == [0, 1, 2, 4] * 2
