"""Checks of the model and the graph before the model is called."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch_geometric.data import Data

import eigsearch
from eigsearch.errors import InputError, UnsupportedError
from eigsearch.inference.input_checks import check_dense, check_model
from tests.nets import house, make_net
from tests.parallel.networks import Small


def reads_all(_name: str) -> bool:
    return True


def path(**attributes: Any) -> Data:
    """A path of three nodes, with edges in both directions."""
    edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    return Data(x=torch.ones(3, 10), edge_index=edge_index, **attributes)


ADJACENCY = torch.tensor([[0, 1, 0], [1, 0, 1], [0, 1, 0]])


@pytest.mark.parametrize("name", ["x", "adj_t"])
def test_check_dense_sparse_attribute_that_the_model_reads_raises(name: str) -> None:
    data = path()
    data[name] = torch.eye(3).to_sparse_csr()
    with pytest.raises(UnsupportedError, match=f"a sparse `{name}`"):
        check_dense(data, reads_all)


def test_check_dense_sparse_attribute_that_the_model_ignores_passes() -> None:
    data = house()
    data.adj_t = torch.eye(9).to_sparse_csr()
    check_dense(data, lambda name: name != "adj_t")
    eigsearch.explain(make_net(), data)  # whose forward has no such argument


@pytest.mark.parametrize("value", [ADJACENCY, ADJACENCY.double(), ADJACENCY + torch.eye(3)])
def test_check_dense_adjacency_matrix_with_or_without_loops_raises(value: torch.Tensor) -> None:
    with pytest.raises(UnsupportedError, match=r"got `links`, which is the adjacency"):
        check_dense(path(links=value), reads_all)


@pytest.mark.parametrize("value", [torch.ones(3, 3), torch.eye(3), ADJACENCY[:2], "text"])
def test_check_dense_other_matrix_or_value_passes(value: Any) -> None:
    check_dense(path(links=value), reads_all)


def complete(nodes: int, **attributes: Any) -> Data:
    """All nodes joined with all others."""
    edges = (1 - torch.eye(nodes)).nonzero().t()
    return Data(x=torch.ones(nodes, 10), edge_index=edges, **attributes)


def numbers(*shape: int) -> torch.Tensor:
    return torch.rand(shape, generator=torch.Generator().manual_seed(0)) + 0.1


@pytest.mark.parametrize(
    ("nodes", "value"),
    [
        (3, numbers(3, 3)),  # a cell of three atoms
        (3, numbers(1, 3, 3)),
        (3, numbers(6, 3, 3)),  # a rotation for each edge
        (4, numbers(4, 4, 3)),  # differences of positions
        (4, numbers(4, 4, 4)),  # a matrix for each node
    ],
)
def test_check_dense_numbers_without_zeros_where_all_nodes_are_joined_pass(
    nodes: int, value: torch.Tensor
) -> None:
    check_dense(complete(nodes, cell=value), reads_all)


@pytest.mark.parametrize(
    "value",
    [
        torch.ones(4, 4),
        numbers(4, 4),
        torch.stack([torch.ones(4, 4).triu(), torch.ones(4, 4).tril()]),
        torch.cdist(numbers(4, 2), numbers(4, 2))[:, :, None],
        torch.cdist(numbers(4, 2), numbers(4, 2))[None].repeat(2, 1, 1),
    ],
)
def test_check_dense_adjacency_where_all_nodes_are_joined_raises(value: torch.Tensor) -> None:
    with pytest.raises(UnsupportedError, match=r"got `links`, which is the adjacency"):
        check_dense(complete(4, links=value), reads_all)


def test_check_dense_adjacency_with_as_many_kinds_as_nodes_in_the_end_raises() -> None:
    kinds = torch.zeros(3, 3, 3)
    kinds[:, :, 0] = ADJACENCY
    with pytest.raises(UnsupportedError, match=r"got `links`, which is the adjacency"):
        check_dense(path(links=kinds), reads_all)


def test_check_dense_two_nodes_with_two_numbers_each_pass() -> None:
    data = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), links=torch.tensor([[0, 1], [1, 0]]))
    check_dense(data, reads_all)


@pytest.mark.parametrize("forward", [None, lambda model, batch: model(batch)])
def test_check_model_class_or_graph_raises_with_advice(forward: Any) -> None:
    with pytest.raises(InputError, match=r"got the class Small\)\. Make one"):
        eigsearch.explain(Small, path(), forward=forward)
    with pytest.raises(InputError, match=r"got a graph\)\. Pass the model first"):
        eigsearch.explain(path(), Small(), forward=forward)


def test_check_model_value_that_cannot_be_called_raises() -> None:
    with pytest.raises(InputError, match=r"to be callable \(got int\)"):
        check_model(3)
