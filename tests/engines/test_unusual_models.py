"""Models with matrices, sparse or of all nodes, or with gradients inside, are explained too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import (
    GCN,
    ASAPooling,
    GCNConv,
    GraphConv,
    GraphUNet,
    SortAggregation,
    global_add_pool,
    global_mean_pool,
)
from torch_geometric.utils import to_dense_adj, to_torch_csr_tensor

import eigsearch
from eigsearch.engines.memory import measure_peak_bytes
from eigsearch.errors import ModelError, UnsupportedError
from eigsearch.inference.last_op import last_op
from tests.nets import FEATURES, house


def graph() -> Data:
    """Return a random graph with both directions of each edge."""
    generator = torch.Generator().manual_seed(0)
    ends = torch.randint(12, (2, 24), generator=generator)
    ends = ends[:, ends[0] < ends[1]].unique(dim=1)
    x = torch.randn(12, 8, generator=generator)
    return Data(x=x, edge_index=torch.cat([ends, ends.flip(0)], dim=1))


class Sparse(nn.Module):
    """Multiplies by the adjacency as a sparse matrix."""

    def __init__(self, outputs: int) -> None:
        super().__init__()
        self.body, self.head = nn.Linear(8, 16), nn.Linear(16, outputs)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        ones, nodes = x.new_ones(edge_index.size(1)), x.size(0)
        adjacency = torch.sparse_coo_tensor(edge_index, ones, (nodes, nodes))
        return self.head(global_mean_pool((adjacency @ self.body(x)).relu(), batch))


class SparseRows(Sparse):
    """The same with rows that are compressed."""

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        adjacency = to_torch_csr_tensor(edge_index, size=(x.size(0), x.size(0)))
        return self.head(global_mean_pool((adjacency @ self.body(x)).relu(), batch))


class UNet(nn.Module):
    """Pools by top-k on the squared adjacency."""

    def __init__(self, outputs: int) -> None:
        super().__init__()
        self.body, self.head = GraphUNet(8, 16, 16, 2), nn.Linear(16, outputs)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return self.head(global_mean_pool(self.body(x, edge_index, batch), batch))


class Asap(nn.Module):
    """Pools clusters of neighbours."""

    def __init__(self, outputs: int) -> None:
        super().__init__()
        self.body, self.pool = GraphConv(8, 16), ASAPooling(16)
        self.head = nn.Linear(16, outputs)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        x, _, _, batch, _ = self.pool(self.body(x, edge_index).relu(), edge_index, batch=batch)
        return self.head(global_mean_pool(x, batch))


class Forces(nn.Module):
    """Adds the gradient of an energy to it."""

    def __init__(self, outputs: int) -> None:
        super().__init__()
        self.body, self.head = GCNConv(8, 16), nn.Linear(16, outputs)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        x = x.detach().clone().requires_grad_()
        energy = self.head(global_mean_pool(self.body(x, edge_index).relu(), batch))
        (gradient,) = torch.autograd.grad(energy.sum(), x)
        return energy + global_add_pool(gradient, batch).sum(dim=1, keepdim=True)


MODELS: tuple[Callable[[int], nn.Module], ...] = (Sparse, SparseRows, UNet, Asap, Forces)


@pytest.mark.parametrize("make", MODELS)
@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize("max_memory", [None, 64_000_000])
def test_explain_unusual_model_loses_what_plain_calls_lose(
    make: Callable[[int], nn.Module], outputs: int, max_memory: int | None
) -> None:
    torch.manual_seed(0)
    model, data = make(outputs).eval(), graph()
    task: Any = {"task": "regression"} if outputs == 1 else {"return_type": "raw"}
    found = eigsearch.explain(model, data, max_memory=max_memory, **task)
    subgraph = found.subgraph()

    def phi(part: Data) -> float:
        batch = torch.zeros(part.num_nodes, dtype=torch.long)
        rows = model(part.x, part.edge_index, batch).detach()
        return float(rows[0, 0] if outputs == 1 else rows.softmax(1)[0, found.target])

    kept, whole = phi(subgraph), phi(data)
    assert found.value == pytest.approx(whole, abs=1e-5)
    lost = abs(whole - kept) if outputs == 1 else whole - kept
    assert found.fidelity_minus == pytest.approx(lost, abs=1e-5)


@pytest.mark.parametrize("layout", [torch.sparse_coo, torch.sparse_csr])
def test_measure_peak_bytes_of_sparse_tensors_counts_numbers_and_indices(layout: Any) -> None:
    matrix = torch.ones(300, 300).to_sparse(layout=layout)
    _, taken = measure_peak_bytes(lambda: matrix * 2)
    assert 300 * 300 * 4 <= taken <= 300 * 300 * 200


def test_last_op_after_a_sparse_product_is_found() -> None:
    matrix, weights = torch.eye(3).to_sparse(), torch.randn(3, 3)
    assert last_op(lambda: (matrix @ weights).softmax(dim=1)) == "probs"


class NoBatch(nn.Module):
    """Takes one graph at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.head = GCNConv(8, 16), nn.Linear(16, 2)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.head(self.body(x, edge_index).relu().mean(dim=0, keepdim=True))


class SortPool(nn.Module):
    """Pools nodes by sorting them."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.pool = GCNConv(8, 16), SortAggregation(4)
        self.head = nn.Linear(64, 2)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return self.head(self.pool(self.body(x, edge_index), batch))


@pytest.mark.parametrize(
    ("make", "reason"), [(NoBatch, "no `batch` argument"), (SortPool, "sorts nodes")]
)
def test_explain_model_for_one_graph_at_a_time_notes_the_cost(
    make: type[nn.Module], reason: str
) -> None:
    torch.manual_seed(0)
    found = eigsearch.explain(make().eval(), graph(), return_type="raw")
    assert "Each candidate costs a call of its own" in found.note
    assert reason in found.note


def test_explain_model_with_batches_notes_no_cost() -> None:
    torch.manual_seed(0)
    found = eigsearch.explain(Sparse(2).eval(), graph(), return_type="raw")
    assert "costs a call" not in found.note


class Answers(nn.Module):
    """Returns the number of the class and no scores."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = GraphConv(8, 3)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return global_add_pool(self.conv(x, edge_index).tanh(), batch).argmax(dim=-1)


@pytest.mark.parametrize("engine", ["auto", "incremental", "batched"])
def test_explain_of_a_model_that_returns_whole_numbers_is_refused(engine: str) -> None:
    with pytest.raises(ModelError, match=r"scores or probabilities \(got torch.int64\)"):
        eigsearch.explain(Answers(), graph(), engine=engine)


class OfMatrix(nn.Module):
    """Multiplies features with a matrix of all pairs of nodes that the graph carries."""

    def __init__(self, pools: bool) -> None:
        super().__init__()
        torch.manual_seed(2)
        self.lin, self.conv = nn.Linear(FEATURES, 6), GCNConv(6, 3)
        self.pools = pools
        self.double().eval()

    def forward(self, data: Data) -> Tensor:
        h = self.conv((data.matrix @ self.lin(data.x)).tanh(), data.edge_index)
        return global_add_pool(h, data.batch) if self.pools else h


def _with_matrix(kind: str) -> Data:
    full = house()
    data = Data(x=full.x, edge_index=full.edge_index)
    adjacency = to_dense_adj(full.edge_index, max_num_nodes=9)[0].double()
    data.matrix = torch.cdist(full.x, full.x) if kind == "distances" else adjacency
    return data


@pytest.mark.parametrize("engine", ["auto", "batched"])
@pytest.mark.parametrize("node", [None, 3])
def test_a_matrix_of_all_nodes_keeps_them_in_every_candidate(node: int | None, engine: str) -> None:
    data, model = _with_matrix("distances"), OfMatrix(pools=node is None)
    ex = eigsearch.explain(model, data, node=node, engine=engine)
    assert "nodes='keep'" in ex.note
    parts = [data, data.edge_subgraph(ex.edge_mask), data.edge_subgraph(~ex.edge_mask)]
    with torch.no_grad():
        rows = [model(Batch.from_data_list([part]))[node or 0].softmax(-1) for part in parts]
    found = [ex.value, float(ex.found.kept), float(ex.found.removed)]
    assert found == pytest.approx([float(row[ex.target]) for row in rows], abs=1e-4)


@pytest.mark.parametrize("node", [None, 3])
def test_an_adjacency_matrix_that_would_keep_removed_edges_is_refused(node: int | None) -> None:
    with pytest.raises(UnsupportedError, match=r"read edges from `edge_index`.*del data\.matrix"):
        eigsearch.explain(OfMatrix(pools=node is None), _with_matrix("adjacency"), node=node)


def _reads_no_edges(model: nn.Module, batch: Batch) -> Tensor:
    return global_add_pool(batch.x, batch.batch)


ADJACENCIES: dict[str, Callable[[Tensor], Tensor]] = {
    "in a stack of one": lambda matrix: matrix[None],
    "by kinds of edges": lambda matrix: torch.stack([matrix.triu(), matrix.tril()]),
    "by kinds of edges, last": lambda matrix: torch.stack([matrix.triu(), matrix.tril()], dim=-1),
    "padded": lambda matrix: nn.functional.pad(matrix, (0, 4, 0, 4)),
}


@pytest.mark.parametrize("shape", ADJACENCIES)
def test_an_adjacency_in_another_shape_is_refused(shape: str) -> None:
    data = _with_matrix("adjacency")
    data.matrix = ADJACENCIES[shape](data.matrix)
    with pytest.raises(UnsupportedError, match=r"`matrix`, which is the adjacency matrix"):
        eigsearch.explain(OfMatrix(pools=True), data, forward=_reads_no_edges)


def test_an_adjacency_is_refused_behind_a_graph_too_small_to_tell() -> None:
    pair = torch.tensor([[0, 1], [1, 0]])
    small = Data(x=torch.ones(2, FEATURES).double(), edge_index=pair)
    small.matrix = to_dense_adj(pair)[0].double()
    graphs = [small, _with_matrix("adjacency")]
    with pytest.raises(UnsupportedError, match=r"`matrix`, which is the adjacency matrix"):
        list(eigsearch.explain_dataset(OfMatrix(pools=True), graphs))


def test_sparse_features_are_refused_behind_a_graph_with_dense_ones() -> None:
    data = _with_matrix("distances")
    sparse = data.clone()
    sparse.x = data.x.to_sparse()
    with pytest.raises(UnsupportedError, match="a sparse `x`"):
        list(eigsearch.explain_dataset(OfMatrix(pools=True), [data, sparse]))


@pytest.mark.parametrize("nodes", [2, 3, 4])
def test_edges_as_many_as_nodes_or_numbers_of_edges_are_no_adjacency(nodes: int) -> None:
    """A cycle of two nodes has an `edge_index` of two rows and two columns, as an adjacency has."""

    class OfEdges(nn.Module):
        def forward(self, x, edge_index, edge_attr, batch):
            sent = x.new_zeros(x.size(0), 1).index_add(0, edge_index[1], edge_attr[:, :1])
            return global_add_pool(torch.cat([x, sent], dim=1), batch)

    ring = torch.arange(nodes)
    weights = torch.ones(nodes, nodes).roll(1, dims=1).fill_diagonal_(0.0)
    data = Data(x=torch.ones(nodes, 1), edge_index=torch.stack([ring, ring.roll(-1)]))
    data.edge_attr = weights if nodes > 2 else torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    assert eigsearch.explain(OfEdges(), data).sentence()


def test_features_that_are_rows_of_the_adjacency_are_welcome() -> None:
    edges = house().edge_index
    data = Data(x=to_dense_adj(edges, max_num_nodes=9)[0], edge_index=edges)
    torch.manual_seed(0)
    assert eigsearch.explain(GCN(9, 4, 1, 3), data, node=2).size
