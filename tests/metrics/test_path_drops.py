"""The drop of a whole path against plain calls of the model."""

from __future__ import annotations

import pytest
import torch

from eigsearch import explain, metrics
from tests.properties.test_links import LinkNet, graph
from tests.typed_nets import LinkNet as TypedNet
from tests.typed_nets import make, shop


@torch.no_grad()
def test_path_drops_are_what_the_link_loses_without_all_edges_of_a_path() -> None:
    model, data = LinkNet().eval(), graph()
    ex = explain(model, data, link=(0, 5), target=1)
    paths = ex.paths(k=None, max_length=4)
    drops = metrics.path_drops(model, ex, paths)
    assert len(paths) > 1
    pair = torch.tensor([[0], [5]])
    whole = model(data.x, data.edge_index, pair).sigmoid()
    for path, drop in zip(paths, drops.tolist(), strict=True):
        steps = set(zip(path.nodes, path.nodes[1:], strict=False))
        gone = steps | {(v, u) for u, v in steps}
        rest = [edge for edge in data.edge_index.t().tolist() if tuple(edge) not in gone]
        left = torch.tensor(rest).t().reshape(2, -1)
        assert drop == pytest.approx(float(whole - model(data.x, left, pair).sigmoid()), abs=1e-6)


@torch.no_grad()
def test_path_drops_of_a_typed_link_are_those_of_plain_calls() -> None:
    model, data = make(TypedNet, "HeteroConv SAGE"), shop()
    ex = explain(model, data, link=(("user", 0), ("item", 2)), target=1)
    paths = ex.paths(k=3)
    drops = metrics.path_drops(model, ex, paths)
    pair = torch.tensor([[0], [2]])
    whole = model(data.x_dict, data.edge_index_dict, pair).sigmoid()
    for path, drop in zip(paths, drops.tolist(), strict=True):
        steps = list(zip(path.nodes, path.nodes[1:], strict=False))
        rest = {}
        for kind in data.edge_types:
            pairs = data[kind].edge_index.t().tolist()
            ends = [((kind[0], u), (kind[2], v)) for u, v in pairs]
            kept = [p for p, (a, b) in zip(pairs, ends, strict=True)
                    if (a, b) not in steps and (b, a) not in steps]  # fmt: skip
            rest[kind] = torch.tensor(kept, dtype=torch.long).reshape(-1, 2).t()
        after = model(data.x_dict, rest, pair).sigmoid()
        assert drop == pytest.approx(float(whole - after), abs=1e-6)


def test_path_drops_of_no_path_are_none() -> None:
    model, data = LinkNet().eval(), graph()
    assert metrics.path_drops(model, explain(model, data, link=(0, 5)), []).shape == (0,)
