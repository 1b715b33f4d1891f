"""CPU time per graph that a worker needs to get its graphs, by where they are kept.

python -m benchmarks.speed.reading [--graphs 8000]

Once for a worker that gets all shards, and once for one of eight, which gets every eighth: a file
that is decoded as a whole is then decoded eight times.
"""

from __future__ import annotations

import argparse
import tempfile
from functools import partial
from pathlib import Path

import torch
from torch_geometric.data import OnDiskDataset

from benchmarks.speed.timing import interleaved, write
from eigsearch import datasets
from eigsearch.parallel import DatabaseSource, DirectorySource, MemorySource, Source
from eigsearch.parallel.pickling import pack, unpack
from eigsearch.parallel.sharding import default_shard_size

FILES = 16
WORKERS = (1, 8)


def sources(count: int, scratch: Path) -> dict[str, Source]:
    """Return the same graphs in memory, in files of both kinds, and in PyG's database."""
    graphs = list(datasets.load("Mutagenicity").graphs) * 2
    graphs = graphs[:count]
    step = -(-count // FILES)
    for suffix in ("safetensors", "pt"):
        (scratch / suffix).mkdir()
        for number in range(FILES):
            part = graphs[number * step : (number + 1) * step]
            datasets.save_file(part, scratch / suffix / f"{number:03d}.{suffix}")
    database = OnDiskDataset(str(scratch / "database"))
    database.extend(graphs)
    return {
        "memory": MemorySource(graphs),
        ".safetensors": DirectorySource(scratch / "safetensors"),
        ".pt": DirectorySource(scratch / "pt"),
        "OnDiskDataset": DatabaseSource(database),
    }


def take(source: Source, workers: int) -> None:
    """Let a worker get every graph of its share of the shards, one shard after the other."""
    size = default_shard_size(len(source))
    for start in range(0, len(source), size * workers):
        here = range(start, min(start + size, len(source)))
        part = unpack(pack(source.part(here)))
        for place in range(len(part)):
            part[place]


def main() -> None:
    """Measure, print and write the rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", type=int, default=8_000)
    count = parser.parse_args().graphs
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as scratch:
        kept = sources(count, Path(scratch))
        cases = [(place, workers) for place in kept for workers in WORKERS]
        runs = {f"{p} {w}": partial(take, kept[p], w) for p, w in cases}
        rows = []
        for (place, workers), (cpu, _) in zip(cases, interleaved(runs, 3).values(), strict=True):
            each = round(1e3 * cpu * workers / count, 4)
            rows.append({"place": place, "workers": workers, "cpu_ms_per_graph": each})
            print(*rows[-1].values(), sep="\t")
    print(write("reading", [{**row, "graphs": count, "files": FILES} for row in rows]))


if __name__ == "__main__":
    main()
