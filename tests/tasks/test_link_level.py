"""Computation graphs of links in a large typed graph: what each holds, counted in entries."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_geometric.data import HeteroData

from eigsearch.inputs.computation_graph import ReceptiveField
from eigsearch.inputs.instance import Instance, PreparedInstance
from eigsearch.tasks import LinkLevel

USERS, ITEMS, EDGES, LINKS = 60_000, 40_000, 120_000, 200


def large() -> HeteroData:
    rng = torch.Generator().manual_seed(0)
    data = HeteroData()
    data["user"].x, data["item"].x = torch.ones(USERS, 1), torch.ones(ITEMS, 1)
    ends = [torch.randint(0, size, (EDGES,), generator=rng) for size in (USERS, ITEMS)]
    data["user", "buys", "item"].edge_index = torch.stack(ends)
    data["item", "rev_buys", "user"].edge_index = torch.stack(ends[::-1])
    return data


def entries(instance: PreparedInstance) -> int:
    """The numbers that an instance holds and does not share with others of its graph."""
    own = [instance.data.edge_index, instance.edges, instance.nodes]
    own += [instance.groups.index, instance.groups.weight]
    return sum(value.numel() for value in own if isinstance(value, Tensor))


def test_prepare_links_of_a_large_graph_hold_their_neighbourhoods_alone() -> None:
    data, level = large(), LinkLevel()
    links = zip(range(LINKS), range(LINKS), strict=True)
    instances = [Instance(data, link=(("user", u), ("item", v))) for u, v in links]
    prepared = level.prepare(instances, "auto", ReceptiveField(2))
    held = [entries(instance) for instance in prepared]
    reach = [instance.groups.index.numel() for instance in prepared]
    assert max(reach) < 500
    assert all(count <= 8 * edges + 16 for count, edges in zip(held, reach, strict=True))
    assert sum(held) < EDGES  # two hundred links take less than the edges of the graph
    assert all(instance.source is data for instance in prepared)
    assert len({id(instance.schema) for instance in prepared}) == 1


def test_prepare_a_link_reaches_what_reaches_either_of_its_ends() -> None:
    data, level = large(), LinkLevel()
    (instance,) = level.prepare(
        [Instance(data, link=(("user", 7), ("item", 9)))], "auto", ReceptiveField(2)
    )
    ends = torch.cat(
        [
            data["user", "buys", "item"].edge_index + torch.tensor([[0], [USERS]]),
            data["item", "rev_buys", "user"].edge_index + torch.tensor([[USERS], [0]]),
        ],
        dim=1,
    )
    reached = torch.zeros(USERS + ITEMS, dtype=torch.bool)
    reached[[7, USERS + 9]] = True
    near = torch.zeros(ends.size(1), dtype=torch.bool)
    for _ in range(2):
        near |= reached[ends[1]]
        reached[ends[0, near]] = True
    near |= torch.cat(near.chunk(2)[::-1])  # reverses come along
    assert instance.edges is not None
    assert instance.edges.tolist() == near.nonzero().flatten().tolist()
