"""Errors of Python and torch that say how a graph does not fit its model."""

from __future__ import annotations

import pytest
import torch
from torch_geometric.data import Batch, Data, HeteroData

from eigsearch.inference.failed_calls import FeatureMisfitError, explained_failure

MISFIT = RuntimeError("mat1 and mat2 shapes cannot be multiplied (5x3 and 4x8)")


def plain() -> Batch:
    graph = Data(x=torch.ones(5, 3), edge_index=torch.zeros(2, 0, dtype=torch.long))
    return Batch.from_data_list([graph])


def typed(*, with_tags: bool) -> Batch:
    graph = HeteroData()
    graph["user"].x = torch.ones(2, 3)
    graph["tag"].num_nodes = 2
    if with_tags:
        graph["tag"].x = torch.ones(2, 3)
    graph["user", "has", "tag"].edge_index = torch.tensor([[0], [1]])
    return Batch.from_data_list([graph])


def test_failure_of_features_of_another_width_names_their_columns() -> None:
    told = explained_failure(plain(), MISFIT)
    assert isinstance(told, FeatureMisfitError)
    assert "`x` with 3 columns" in str(told)


@pytest.mark.parametrize(
    "error", [KeyError("tag"), AttributeError("'NoneType' object has no attribute 'dim'")]
)
def test_failure_of_a_type_without_features_names_it(error: Exception) -> None:
    told = explained_failure(typed(with_tags=False), error)
    assert isinstance(told, FeatureMisfitError)
    assert "no `x` of tag" in str(told)


def test_failure_of_a_type_that_is_not_there_names_those_that_are() -> None:
    told = explained_failure(typed(with_tags=True), KeyError("shop"))
    assert "looks up 'shop'" in str(told)
    assert "user, tag" in str(told)


@pytest.mark.parametrize("error", [RuntimeError("out of memory"), KeyError("x")])
def test_failure_that_says_nothing_about_the_graph_is_left_alone(error: Exception) -> None:
    assert explained_failure(plain(), error) is None
    assert explained_failure(typed(with_tags=True), AttributeError("no such layer")) is None
