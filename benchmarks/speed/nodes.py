"""One node of a graph of a million edges, and a hub of ten thousand neighbours.

    python -m benchmarks.speed.nodes

Time and additional peak memory of a single explanation, on graphs of growing size and bounded
degree. The first node of a graph costs a call of the model on all of it, which tells how far the
model sees; what comes on top, and the next node, depend on the neighbourhood and not on the graph.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time

import torch
from torch_geometric.data import Data
from torch_geometric.nn import GIN, GraphSAGE

import eigsearch
from benchmarks.speed.timing import write

FEATURES = 16
MODELS = {"sage": GraphSAGE, "gin": GIN}
CASES = [
    *(("bounded", edges, name) for name in MODELS for edges in (10_000, 100_000, 1_000_000)),
    *(("hub", 10_000, name) for name in MODELS),
]
# Of three layers around a hub every neighbour has a state for every other one: their square.
LAYERS = {"bounded": 3, "hub": 2}
SIZES = {"bounded": None, "hub": 100}  # the largest answer that is searched for


def bounded(edges: int) -> Data:
    """Return a random graph of degree six."""
    nodes = edges // 3
    dice = torch.manual_seed(0)
    ends = torch.stack([
        torch.arange(nodes).repeat(3),
        torch.cat([torch.randperm(nodes, generator=dice) for _ in range(3)]),
    ])  # fmt: skip
    return _data(nodes, ends)


def hub(edges: int) -> Data:
    """Return a star: one node with all the others around it."""
    spokes = torch.arange(1, edges + 1)
    return _data(edges + 1, torch.stack([torch.zeros_like(spokes), spokes]))


def _data(nodes: int, ends: torch.Tensor) -> Data:
    x = torch.randn(nodes, FEATURES, generator=torch.manual_seed(0))
    return Data(x=x, edge_index=torch.cat([ends, ends.flip(0)], dim=1))


def peak_mb() -> float:
    """Return the largest memory that this process had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def one(kind: str, edges: int, name: str) -> None:
    """Explain node 0 in this process, then node 1, and print what both took."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = MODELS[name](FEATURES, 64, LAYERS[kind], out_channels=4)
    eigsearch.explain(model, bounded(300), node=0)  # warm-up: imports and the trace
    data = {"bounded": bounded, "hub": hub}[kind](edges)
    before, cpu, wall = peak_mb(), time.process_time(), time.perf_counter()
    explanation = eigsearch.explain(model, data, node=0, max_size=SIZES[kind])
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    memory, again = peak_mb() - before, time.process_time()
    eigsearch.explain(model, data, node=1, max_size=SIZES[kind])
    again = time.process_time() - again
    print(cpu, wall, memory, explanation.num_groups, explanation.engine, again)


def main() -> None:
    """Measure each case in a process of its own, print and write the rows."""
    rows = []
    for kind, edges, name in CASES:
        command = [sys.executable, "-m", "benchmarks.speed.nodes", kind, str(edges), name]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        cpu, wall, memory, groups, engine, again = printed.split()
        rows.append({
            "graph": kind,
            "model": name,
            "layers": LAYERS[kind],
            "edges": edges,
            "candidate_edges": int(groups),
            "cpu_seconds": round(float(cpu), 3),
            "wall_seconds": round(float(wall), 3),
            "next_cpu_seconds": round(float(again), 3),
            "additional_mb": round(float(memory), 1),
            "engine": engine,
        })  # fmt: skip
        print(*rows[-1].values(), sep="\t", flush=True)
    print(write("nodes", rows))


if __name__ == "__main__":
    if len(sys.argv) == 4:
        one(sys.argv[1], int(sys.argv[2]), sys.argv[3])
    else:
        main()
