"""Random timelines, and what each of their candidates keeps, written as loops."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import strategies as st
from torch_geometric.data import Data

from eigsearch.candidates import (
    CandidateSet,
    Complements,
    FullGraph,
    JointFlips,
    LeaveOneOut,
    Prefixes,
    Removals,
    SingleFlips,
)
from eigsearch.engines.incremental.index.timelines import Timelines, build_timelines
from eigsearch.engines.request import Chunk, Request
from tests.instances import prepare_graph

GROWING = ("prefixes", "complements")
TOGGLING = ("full", "leave-one-out", "removals", "flips", "joint flips")
kinds = st.sampled_from([GROWING, TOGGLING])
seeds = st.integers(0, 10_000)


def random_data(rng: np.random.Generator) -> Data:
    """Return a small directed multigraph, which may have self-loops."""
    nodes, edges = int(rng.integers(2, 6)), int(rng.integers(2, 10))
    edge_index = torch.from_numpy(rng.integers(0, nodes, (2, edges)))
    return Data(x=torch.zeros(nodes, 1), edge_index=edge_index, num_nodes=nodes)


def random_set(kind: str, groups: int, rng: np.random.Generator) -> CandidateSet:
    order = torch.from_numpy(rng.permutation(groups))
    sizes = sorted(set(rng.integers(0, groups + 1, groups).tolist()))
    entries = rng.permutation(groups).tolist()
    base = torch.from_numpy(rng.random(groups) < 0.6)
    member = torch.from_numpy(rng.integers(0, groups, groups))
    return {
        "prefixes": Prefixes(order, sizes),
        "complements": Complements(order, sizes),
        "full": FullGraph(groups),
        "leave-one-out": LeaveOneOut(groups),
        "removals": Removals(groups),
        "flips": SingleFlips(base, entries),
        "joint flips": JointFlips(base, member, entries),
    }[kind]


def random_chunk(kind: str, rng: np.random.Generator) -> Chunk:
    """Return some neighbouring candidates of a random graph, in which some edges always stay."""
    data = random_data(rng)
    groups = torch.from_numpy(rng.integers(-1, data.num_edges, data.num_edges))
    groups[0] = 0
    _, dense = groups.clamp(min=-1).unique(return_inverse=True)
    instance = prepare_graph(data, dense - int((groups < 0).any()))
    request = Request(instance, random_set(kind, instance.groups.count, rng))
    start = int(rng.integers(0, len(request)))
    return Chunk(request, start, int(rng.integers(start + 1, len(request) + 1)))


def random_timelines(choice: tuple[str, ...], seed: int) -> Timelines:
    """Return two to four timelines, all growing or all toggling."""
    rng = np.random.default_rng(seed)
    chosen = rng.choice(choice, int(rng.integers(2, 5)))
    return build_timelines([random_chunk(str(kind), rng) for kind in chosen])


def kept_edges(timelines: Timelines) -> list[set[int]]:
    """Return the edges that each candidate keeps, by their row in the attributes of all graphs."""
    found, first = [], 0
    for chunk in timelines.chunks:
        group = chunk.request.instance.edge_arrays[2]
        for keep in chunk.request.candidate_set.rows(chunk.start, chunk.stop).numpy():
            there = (group < 0) | np.append(keep, False)[group]
            found.append({first + int(edge) for edge in there.nonzero()[0]})
        first += len(group)
    return found


def edges_at(timelines: Timelines, line: int, time: int) -> list[int]:
    """Return the edges of one timeline that are there at one time."""
    edges, bounds = timelines.edges, timelines.node_ptr
    return [
        edge
        for edge in range(len(edges))
        if bounds[line] <= edges.target[edge] < bounds[line + 1]
        and bool(edges.present(np.array([edge]), np.array([time]))[0])
    ]


def line_of(timelines: Timelines, node: int) -> int:
    return int(np.searchsorted(timelines.node_ptr, node, side="right")) - 1


def states(timelines: Timelines, layers: int) -> list[dict[tuple[int, int], object]]:
    """Return the state of each (node, time) after each layer, as the tree that it was made of.

    A state is the node's own one below, and the sorted ones that edges bring.
    """
    known: list[dict[tuple[int, int], object]] = [
        {
            (node, time): node
            for node in range(len(timelines.node))
            for time in range(timelines.lengths[line_of(timelines, node)])
        }
    ]
    for _ in range(layers):
        known.append({pair: _next_state(timelines, known[-1], *pair) for pair in known[-1]})
    return known


def _next_state(timelines: Timelines, below: dict, node: int, time: int) -> object:
    edges = timelines.edges
    there = edges_at(timelines, line_of(timelines, node), time)
    brought = [(edge, below[int(edges.source[edge]), time]) for edge in there
               if edges.target[edge] == node]  # fmt: skip
    return below[node, time], tuple(brought)
