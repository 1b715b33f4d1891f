"""Sparsity, intuitiveness and exhaustiveness of subgraphs."""

from __future__ import annotations

from itertools import permutations
from typing import Literal, get_args

import torch
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from torch_geometric.data import Data

from eigsearch.errors import InputError
from eigsearch.inputs.edge_groups import GroupSpec, make_groups
from eigsearch.metrics.induced import Subgraph
from eigsearch.metrics.mask_candidates import groups_of

Technique = Literal["edges", "nodes", "nodes_and_edges"]
MAX_EDGES = 18  # 2^18 subsets take about a second


def edge_sparsity(subgraph: Subgraph, groups: GroupSpec = "auto") -> float:
    """Return 1 − |E_S| / |E|, counted in groups; 0 for a graph without any.

    A group counts as soon as one of its edges is in the subgraph.
    """
    made = make_groups(groups, subgraph.data)
    held = int(groups_of(subgraph.edges[None].cpu(), made).sum())
    return 1 - held / made.count if made.count else 0.0


def node_sparsity(subgraph: Subgraph) -> float:
    """Return 1 − |V_S| / |V|."""
    return 1 - int(subgraph.nodes.sum()) / subgraph.nodes.numel()


def intuitiveness(subgraph: Subgraph) -> float:
    """Return C_S / C: the share of components that have an edge (Lu et al. 2024, Definition 3.1).

    Directions do not matter. An empty subgraph has no components, and gives NaN.
    """
    nodes = subgraph.nodes.cpu().numpy()
    source, target = subgraph.data.edge_index[:, subgraph.edges].cpu().numpy()
    links = coo_matrix((torch.ones(len(source)), (source, target)), shape=(len(nodes), len(nodes)))
    _, component = connected_components(links, directed=False)
    total = len(set(component[nodes]))
    return len(set(component[source])) / total if total else float("nan")


def exhaustiveness(data: Data, technique: Technique) -> float:
    """Return 𝒯(G) / C_S: the share of connected subgraphs that an inducing technique reaches.

    C_S counts the connected subgraphs of G with at least one edge, by enumeration; 𝒯(G) those
    that appear as a component of what the technique induces (Lu et al. 2024, Definition 3.2). By
    edges every one of them is reached; by nodes only those that hold all edges between their nodes.
    Edges are pairs {u, v}, as in the definition: direction and multiplicity do not count.
    """
    if technique not in get_args(Technique):
        raise InputError(
            f"Expected `technique` to be one of {', '.join(get_args(Technique))} "
            f"(got {technique!r}). Choose one of these."
        )
    edges = sorted({tuple(sorted(set(pair))) for pair in data.edge_index.t().tolist()})
    _check_small(len(edges))
    if not edges:
        return float("nan")
    by_edges = _count_connected(_touching(edges))
    by_nodes = _count_node_induced(edges) if technique == "nodes" else by_edges
    return by_nodes / by_edges


def _touching(edges: list[tuple[int, ...]]) -> list[int]:
    """Return, as the bits of an integer, which other edges each edge shares a node with."""
    return [
        sum(1 << j for j, other in enumerate(edges) if i != j and set(here) & set(other))
        for i, here in enumerate(edges)
    ]


def _count_node_induced(edges: list[tuple[int, ...]]) -> int:
    """Return the number of connected node sets that induce at least one edge."""
    number = {node: i for i, node in enumerate({node for edge in edges for node in edge})}
    neighbours = [0] * len(number)
    for edge in edges:
        for node, other in permutations(edge, 2):
            neighbours[number[node]] |= 1 << number[other]
    loops = sum(len(edge) == 1 for edge in edges)
    return _count_connected(neighbours) - len(number) + loops


def _count_connected(neighbours: list[int]) -> int:
    """Return the number of connected, non-empty subsets, grown one member at a time.

    Member i is bit i; `neighbours[i]` has the bits of its neighbours.

    >>> _count_connected([0b010, 0b101, 0b010])  # a path of three: 3 + 2 + 1
    6
    """
    grown = {1 << i: bits for i, bits in enumerate(neighbours)}
    total = 0
    while grown:
        total += len(grown)
        larger: dict[int, int] = {}
        for subset, around in grown.items():
            rest = around & ~subset
            while rest:
                member = rest & -rest
                rest ^= member
                if subset | member not in larger:
                    larger[subset | member] = around | neighbours[member.bit_length() - 1]
        grown = larger
    return total


def _check_small(count: int) -> None:
    if count > MAX_EDGES:
        raise InputError(
            f"Expected a graph of at most {MAX_EDGES} edges to enumerate subgraphs "
            f"(got {count}, which have {2**count:,} subsets). Take a smaller graph."
        )
