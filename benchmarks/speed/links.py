"""A thousand links of typed graphs of up to a million edges: time and memory as the run goes on.

    python -m benchmarks.speed.links

Both should depend on the neighbourhoods of the links, and not on the graph, and the memory not on
how many links are done.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import HeteroData
from torch_geometric.nn import HeteroConv, SAGEConv

import eigsearch
from benchmarks.speed.timing import write

LINKS, WARM = 1_000, 128
SIZES = (10_000, 100_000, 1_000_000)
WIDTH = 16


def shop(edges: int, seed: int = 0) -> HeteroData:
    """Return users, items and tags: half of the edges lead back, and degrees are bounded."""
    dice = torch.Generator().manual_seed(seed)
    data, counts = HeteroData(), {"user": edges // 8, "item": edges // 8, "tag": edges // 16}
    for kind, count in counts.items():
        data[kind].x = torch.randn(count, WIDTH, generator=dice)
    for source, relation, target, each in (("user", "buys", "item", 3), ("item", "has", "tag", 1)):
        first = torch.arange(counts[source]).repeat(each)
        others = [
            torch.randperm(counts[source], generator=dice) % counts[target] for _ in range(each)
        ]
        ends = torch.stack([first, torch.cat(others)])
        data[source, relation, target].edge_index = ends
        data[target, f"rev_{relation}", source].edge_index = ends.flip(0)
    return data


class LinkNet(nn.Module):
    """Two HeteroConv layers of SAGE, and the product of the states of a user and an item."""

    def __init__(self, data: HeteroData) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.ModuleList(
            HeteroConv({kind: SAGEConv(WIDTH, WIDTH) for kind in data.edge_types}) for _ in range(2)
        )

    def forward(self, x_dict: Any, edge_index_dict: Any, edge_label_index: Tensor) -> Tensor:
        """Return the log-odds of each link."""
        for layer in self.layers:
            x_dict = {kind: x.tanh() for kind, x in layer(x_dict, edge_index_dict).items()}
        user, item = edge_label_index
        return 4 * (x_dict["user"][user] * x_dict["item"][item]).sum(dim=-1)


def held_mb() -> float:
    """Return the memory that this process holds now, without what the allocator keeps for later."""
    ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def explained(edges: int, count: int = LINKS) -> Iterator[tuple[int, float, float, int, str]]:
    """Yield, each hundred links, how many are done, CPU seconds, memory, groups and the engine."""
    data = shop(edges)
    model = LinkNet(data).eval()
    dice = torch.Generator().manual_seed(1)
    ends = [torch.randint(data[kind].num_nodes, (count,), generator=dice) for kind in _ENDS]
    groups, start = 0, time.process_time()
    found = eigsearch.explain_dataset(
        model, data, link=(_ENDS, torch.stack(ends)), progress=False, task="binary"
    )
    for done, explanation in enumerate(found, start=1):
        groups += explanation.num_groups
        if done in (WARM, count) or done % 100 == 0:
            yield done, time.process_time() - start, held_mb(), groups // done, explanation.engine


_ENDS = ("user", "item")


def row(edges: int) -> dict[str, Any]:
    """Return what a thousand links of a graph took, measured in this process."""
    torch.set_num_threads(1)
    list(explained(1_000, 8))  # imports, and the trace of the model
    samples = list(explained(edges))
    (warm,) = [sample for sample in samples if sample[0] == WARM]
    last, most = samples[-1], max(sample[2] for sample in samples)
    return {
        "edges": edges,
        "links": last[0],
        "groups_per_link": last[3],
        "cpu_ms_per_link": round(1e3 * last[1] / last[0], 2),
        "later_cpu_ms_per_link": round(1e3 * (last[1] - warm[1]) / (last[0] - WARM), 2),
        "mb_after_128": round(warm[2]),
        "mb_at_the_end": round(last[2]),
        "mb_at_most": round(most),
        "engine": last[4],
    }


def main() -> None:
    """Measure each size in a process of its own, print and write the rows."""
    rows = []
    for edges in SIZES:
        command = [sys.executable, "-m", "benchmarks.speed.links", str(edges)]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        names, values = printed.strip().splitlines()[-2:]
        rows.append(dict(zip(names.split(","), values.split(","), strict=True)))
        print(rows[-1])
    write("links", rows)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        found = row(int(sys.argv[1]))
        print(",".join(found))
        print(",".join(map(str, found.values())))
    else:
        main()
