"""Time and rows against the number of edges: both engines on graphs of 10² to 10⁵ edges.

    python -m benchmarks.speed.scaling [--largest 100000]

Three-regular graphs and molecule-like ones (rings on a chain), a 3-layer GIN of width 64 with mean
pooling, the whole sweep, one thread. The batched engine stops where it would take minutes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import networkx as nx
import numpy as np
import torch
from tests.instances import prepare_graph
from torch_geometric.data import Data
from torch_geometric.nn import GIN, global_mean_pool

import eigsearch
from benchmarks.speed.timing import write
from eigsearch.candidates import Complements, LeaveOneOut, Prefixes
from eigsearch.engines.incremental.index.state_table import base_table
from eigsearch.engines.incremental.index.timelines import build_timelines
from eigsearch.engines.request import Chunk, Request

FEATURES, LAYERS = 8, 3
EDGES = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
BATCHED_UP_TO = 1_000
COUNTED_UP_TO = 10_000
REPEATS = {100: 9, 300: 9, 1_000: 5, 3_000: 3}


class Net(torch.nn.Module):
    """A GIN that pools by the mean."""

    def __init__(self) -> None:
        super().__init__()
        self.gnn = GIN(FEATURES, 64, LAYERS)
        self.head = torch.nn.Linear(64, 2)

    def forward(
        self, x: torch.Tensor, edge_index: torch.Tensor, batch: torch.Tensor
    ) -> torch.Tensor:
        return self.head(global_mean_pool(self.gnn(x, edge_index), batch))


def three_regular(edges: int) -> nx.Graph:
    """Return a random graph of degree three."""
    nodes = 2 * edges // 3
    return nx.random_regular_graph(3, nodes + nodes % 2, seed=0)


def molecule_like(edges: int) -> nx.Graph:
    """Return a long chain of six-rings, joined by single edges."""
    graph, rings = nx.Graph(), max(1, edges // 7)
    for ring in range(rings):
        first = 6 * ring
        graph.add_edges_from((first + i, first + (i + 1) % 6) for i in range(6))
        if ring:
            graph.add_edge(first - 3, first)
    return graph


def as_data(graph: nx.Graph) -> Data:
    """Return a graph with random features, both directions of each edge."""
    ends = torch.tensor(list(graph.edges)).t()
    x = torch.randn(graph.number_of_nodes(), FEATURES, generator=torch.manual_seed(0))
    return Data(x=x, edge_index=torch.cat([ends, ends.flip(0)], dim=1))


def seconds(model: Net, data: Data, engine: str, repeats: int) -> tuple[float, float]:
    """Return the median CPU and wall seconds of one explanation."""
    taken = []
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        eigsearch.explain(model, data, sparsity=0.0, engine=engine)
        taken.append((time.process_time() - cpu, time.perf_counter() - wall))
    cpu, wall = np.median(taken, axis=0)
    return float(cpu), float(wall)


def incremental_rows(data: Data) -> int:
    """Return how many node states the incremental engine computes for one explanation."""
    instance = prepare_graph(data, "auto")
    count = instance.groups.count
    order, sizes = torch.randperm(count, generator=torch.manual_seed(0)), list(range(2, count))
    candidate_sets = [LeaveOneOut(count), Prefixes(order, sizes), Complements(order, sizes)]
    total = 0
    for candidate_set in candidate_sets:
        table = base_table(
            build_timelines([Chunk(Request(instance, candidate_set), 0, len(candidate_set))])
        )
        for _ in range(LAYERS):
            table = table.propagate()
            total += len(table)
    return total


def measure(largest: int) -> Iterator[dict[str, object]]:
    """Yield a row for each kind of graph, number of edges and engine."""
    torch.manual_seed(0)
    model = Net().eval()
    for kind, make in (("3-regular", three_regular), ("molecule-like", molecule_like)):
        eigsearch.explain(model, as_data(make(100)))  # warm-up
        for wanted in (e for e in EDGES if e <= largest):
            data = as_data(make(wanted))
            edges, nodes = data.num_edges // 2, data.num_nodes
            for engine in ("batched", "incremental"):
                if engine == "batched" and wanted > BATCHED_UP_TO:
                    continue
                cpu, wall = seconds(model, data, engine, REPEATS.get(wanted, 1))
                rows = LAYERS * nodes * (3 * edges - 4)
                if engine == "incremental":
                    rows = incremental_rows(data) if wanted <= COUNTED_UP_TO else 0
                yield {
                    "graph": kind,
                    "engine": engine,
                    "edges": edges,
                    "cpu_seconds": round(cpu, 4),
                    "wall_seconds": round(wall, 4),
                    "rows": rows,
                }


def main() -> None:
    """Measure, print and write the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=EDGES[-1])
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    for row in measure(options.largest):
        rows.append(row)
        print(*row.values(), sep="\t", flush=True)
    print(write("scaling", rows))


if __name__ == "__main__":
    main()
