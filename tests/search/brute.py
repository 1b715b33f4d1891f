"""Small problems, and all their subgraphs judged one model call at a time."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import floor

import torch
from hypothesis import strategies as st
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import GINConv, global_mean_pool


class Net(nn.Module):
    """Two GIN layers and a mean; steep, so that gains are large and local optima many."""

    def __init__(self, seed: int, outputs: int = 2) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.first = GINConv(nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 6)))
        self.second = GINConv(nn.Sequential(nn.Linear(6, 6), nn.Tanh(), nn.Linear(6, 6)))
        self.head = nn.Linear(6, outputs, bias=False)
        for weight in self.parameters():
            weight.data *= 2
        self.eval()

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        x = self.second(self.first(x, edge_index).relu(), edge_index)
        return self.head(global_mean_pool(x, batch))


@st.composite
def problems(draw: st.DrawFn, most: int = 9, kinds: int = 0) -> tuple[Net, Data]:
    """A network and a small undirected graph with random features, or nodes of some kinds."""
    nodes = draw(st.integers(4, 7))
    pairs = list(combinations(range(nodes), 2))
    edges = draw(st.lists(st.sampled_from(pairs), min_size=3, max_size=most, unique=True))
    seed = draw(st.integers(0, 10_000))
    features = torch.randn(nodes, 3, generator=torch.Generator().manual_seed(seed))
    if kinds:
        features = features[torch.arange(nodes) % kinds]
    both = edges + [(v, u) for u, v in edges]
    return Net(seed), Data(x=features, edge_index=torch.tensor(both).t())


@torch.no_grad()
def probability(model: nn.Module, data: Data, edges: list[tuple[int, int]], target: int) -> float:
    """The probability of a class for an edge-induced subgraph; all nodes where it has no edge."""
    nodes = sorted({n for edge in edges for n in edge}) or list(range(data.num_nodes))
    number = {node: i for i, node in enumerate(nodes)}
    both = [(number[u], number[v]) for u, v in edges] + [(number[v], number[u]) for u, v in edges]
    edge_index = torch.tensor(both, dtype=torch.long).reshape(-1, 2).t()
    batch = torch.zeros(len(nodes), dtype=torch.long)
    return float(model(data.x[nodes], edge_index, batch)[0].double().softmax(0)[target])


def gain_of(model: nn.Module, data: Data, chosen: set[tuple[int, int]], target: int) -> float:
    """Fidelity+ − Fidelity−, straight from the definition."""
    edges = undirected(data)
    kept = probability(model, data, [e for e in edges if e in chosen], target)
    removed = probability(model, data, [e for e in edges if e not in chosen], target)
    return kept - removed


def random_graph(seed: int, nodes: int = 9, edges: int = 14) -> Data:
    """An undirected graph with random edges and features."""
    dice = torch.Generator().manual_seed(seed)
    pairs = torch.combinations(torch.arange(nodes))
    chosen = pairs[torch.randperm(len(pairs), generator=dice)[:edges]].t()
    edge_index = torch.cat([chosen, chosen.flip(0)], dim=1)
    return Data(x=torch.randn(nodes, 3, generator=dice), edge_index=edge_index)


def undirected(data: Data) -> list[tuple[int, int]]:
    return sorted({(min(u, v), max(u, v)) for u, v in data.edge_index.t().tolist()})


def chosen_edges(data: Data, mask: Tensor) -> set[tuple[int, int]]:
    return {(min(u, v), max(u, v)) for u, v in data.edge_index[:, mask].t().tolist()}


def best_gain(model: nn.Module, data: Data, sparsity: float, target: int) -> float:
    """The highest gain of all subgraphs of the allowed sizes."""
    edges = undirected(data)
    limit = max(2, floor((1 - Fraction(str(sparsity))) * len(edges)))
    sizes = range(2, min(limit, len(edges) - 1) + 1)
    return max(
        gain_of(model, data, set(chosen), target)
        for size in sizes
        for chosen in combinations(edges, size)
    )
