"""Random graphs, the odd ones on purpose: loops, parallels, hubs, hardly an edge, wild weights."""

from __future__ import annotations

from itertools import combinations

import torch
from tests.nets import EDGE_FEATURES, FEATURES, RELATIONS
from torch import Tensor
from torch_geometric.data import Data

from benchmarks.fuzz.dice import Dice

Pairs = list[tuple[int, int]]

# How far the numbers of a graph reach. Beyond "wide", float64 itself loses what is compared.
SCALES = {"tame": 1.0, "wide": 1e6, "extreme": 1e30}


def draw_graph(dice: Dice, reads: set[str], scale: str, dtype: torch.dtype) -> Data:
    """Return a graph with the edge-level attributes that a model reads, and some it does not."""
    pairs, num_nodes = draw_pairs(dice)
    ends, pick = draw_directions(dice, pairs)
    data = Data(x=draw_features(dice, num_nodes, scale).to(dtype), edge_index=ends)
    for name in sorted(reads):
        one_each = dice.chance(0.8)  # else the two directions of an edge differ
        rows = pick if one_each else torch.arange(pick.numel())
        drawn = draw_edge_attribute(dice, name, max(len(pairs), pick.numel()), scale)
        data[name] = (drawn if name == "edge_type" else drawn.to(dtype))[rows]
    if dice.chance(0.1):
        data.edge_index = ends.int()
    add_extras(dice, data)
    return data


def draw_pairs(dice: Dice) -> tuple[Pairs, int]:
    """Return the edges of a shape as pairs, and the number of nodes."""
    count = dice.weighted({dice.randint(1, 5): 0.3, dice.randint(6, 12): 0.67, 40: 0.03})
    shape = dice.choice([path, star, cycle, complete, tree, scattered, scattered, few, twins])
    pairs = shape(dice, count)
    if dice.chance(0.15):
        pairs += [(v, v) for v in dice.some(range(count), 2)]
    if pairs and dice.chance(0.15):
        pairs += dice.choices(pairs, k=2)
    isolated = dice.randint(1, 3) if dice.chance(0.2) else 0
    return pairs, count + isolated


def path(dice: Dice, count: int) -> Pairs:
    return [(v, v + 1) for v in range(count - 1)]


def star(dice: Dice, count: int) -> Pairs:
    return [(0, v) for v in range(1, count)]


def cycle(dice: Dice, count: int) -> Pairs:
    return [(v, (v + 1) % count) for v in range(count)]


def complete(dice: Dice, count: int) -> Pairs:
    return list(combinations(range(min(count, 6)), 2))


def tree(dice: Dice, count: int) -> Pairs:
    return [(dice.randrange(v), v) for v in range(1, count)]


def scattered(dice: Dice, count: int) -> Pairs:
    possible = list(combinations(range(count), 2))
    return dice.some(possible, dice.randint(0, 2 * count))


def few(dice: Dice, count: int) -> Pairs:
    return scattered(dice, count)[: dice.randint(0, 2)]


def twins(dice: Dice, count: int) -> Pairs:
    """Two copies of one tree, not connected: every edge has an equal."""
    half = tree(dice, count // 2)
    return half + [(u + count // 2, v + count // 2) for u, v in half]


def draw_directions(dice: Dice, pairs: Pairs) -> tuple[Tensor, Tensor]:
    """Return directed edges `[2, E]`, and the pair that each comes from."""
    edge = torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).t()
    pick = torch.arange(edge.size(1))
    way = dice.weighted({"both": 0.7, "one": 0.2, "mixed": 0.1})
    back = {"both": edge[0] != edge[1], "one": pick < 0}.get(way)
    if back is None:
        back = dice.uniform_tensor(edge.size(1)) < 0.5
    ends, pick = torch.cat([edge, edge[:, back].flip(0)], dim=1), torch.cat([pick, pick[back]])
    if dice.chance(0.5):
        order = dice.order(pick.numel())
        ends, pick = ends[:, order], pick[order]
    return ends, pick


def draw_features(dice: Dice, count: int, scale: str) -> Tensor:
    """Return node features: all different, of few kinds, or all the same."""
    kinds = dice.weighted({count: 0.6, 2: 0.2, 1: 0.2})
    x = dice.normal(kinds, FEATURES)[torch.arange(count) % kinds]
    if dice.chance(0.05):
        x = torch.zeros_like(x)
    return x * reach(dice, scale, count, 1)


def draw_edge_attribute(dice: Dice, name: str, count: int, scale: str) -> Tensor:
    """Return the values of an edge-level attribute by its name."""
    if name == "edge_type":
        return dice.below(RELATIONS, count)
    if name == "edge_attr":
        return dice.normal(count, EDGE_FEATURES) * reach(dice, scale, count, 1)
    weight = (dice.normal(count).abs() + 0.1) * reach(dice, scale, count)
    if dice.chance(0.2):
        weight = weight.round()  # some become exactly 0
    return weight


def reach(dice: Dice, scale: str, *shape: int) -> Tensor:
    """Return factors that spread values over the range of a scale, evenly in their exponent."""
    exponent = (2 * dice.uniform_tensor(*shape) - 1).round()
    return torch.tensor(SCALES[scale], dtype=torch.float64) ** exponent


def add_extras(dice: Dice, data: Data) -> None:
    """Add attributes that people's graphs carry and no model here reads."""
    if dice.chance(0.2):
        data.y = torch.tensor([dice.choice([0, 1])])
    if dice.chance(0.1):
        data.name = "<b>graph</b>"
    if dice.chance(0.1):
        data.pos = dice.normal(int(data.num_nodes), 2)
    if dice.chance(0.1):
        data.mass = 1.5
    if dice.chance(0.1):
        data.u = dice.normal(1, 3)
