"""Forwards as users write them are explained as fresh plain calls give it."""

from __future__ import annotations

import pytest
import torch
from torch_geometric.data import Batch, Data

import eigsearch
from tests.nets import house
from tests.properties.user_models import (
    OF_OBJECTS,
    ROUTINES,
    OfArguments,
    OfObject,
    UserModel,
    forget,
    nothing_is_kept,
)


def make(name: str) -> UserModel:
    forget()
    return OfObject(name) if name in OF_OBJECTS else OfArguments(name)


def graph(seed: int) -> Data:
    full = house(seed)
    return Data(x=full.x, edge_index=full.edge_index)


def own(name: str, data: Data) -> torch.Tensor:
    """Return what a model that never was called before gives for one graph."""
    batch = Batch.from_data_list([data.clone()])
    with torch.no_grad():
        model = make(name)
        given = (batch,) if name in OF_OBJECTS else (batch.x, batch.edge_index, batch.batch)
        return model(*given).softmax(dim=-1)[0]


def assert_like_own_calls(name: str, ex: eigsearch.SubgraphExplanation) -> None:
    data, rest = ex.data, ex.data.edge_subgraph(~ex.edge_mask)
    chosen = data.edge_subgraph(ex.edge_mask)
    if "(nodes='keep')" not in ex.note:
        chosen, ends = ex.subgraph(), torch.zeros(int(data.num_nodes), dtype=torch.bool)
        ends[rest.edge_index.flatten()] = True
        rest = rest.subgraph(ends)
    expected = [float(own(name, part)[ex.target]) for part in (data, chosen, rest)]
    found = [ex.value, float(ex.found.kept), float(ex.found.removed)]
    assert found == pytest.approx(expected, abs=1e-4)


@pytest.mark.filterwarnings("ignore:Expected both engines")
@pytest.mark.parametrize("engine", ["auto", "batched"])
@pytest.mark.parametrize("name", [*ROUTINES, *OF_OBJECTS])
def test_user_model_alone_and_in_company_equals_fresh_plain_calls(name: str, engine: str) -> None:
    model, first = make(name), graph(0)
    before = first.x.clone()
    explanations = [eigsearch.explain(model, first, engine=engine)]
    explanations += eigsearch.explain_dataset(model, [graph(1), graph(2), graph(3)], engine=engine)
    assert torch.equal(first.x, before)
    assert nothing_is_kept(model)
    for ex in explanations:
        assert_like_own_calls(name, ex)
