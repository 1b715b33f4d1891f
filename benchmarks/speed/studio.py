"""The studio under 500 random edits, 20 tabs at once, and 100,000 graphs on disk.

    python -m benchmarks.speed.studio

Edits go through HTTP, as the page sends them. Each shown prediction is compared with a plain call
of the model on the edited graph; times are milliseconds, and multiples of one bare forward call on
the same graph. `cpu` is what this process computed, page side and server together: where others
share the machine, wall times grow with `load` (processes that want to run, per core), and it does
not. Memory and open files are taken after the first 100 edits and after the last.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import Any
from urllib.parse import urlsplit

import psutil
import torch
from torch_geometric.data import Data, OnDiskDataset

from benchmarks.speed.timing import write
from eigsearch import datasets
from eigsearch.app.edits import GraphEdits
from eigsearch.app.server import Server
from eigsearch.app.session import Session
from eigsearch.datasets.safetensors_io import write_graphs
from eigsearch.models import zoo
from eigsearch.parallel.sources import DirectorySource

EDITS = 500
WARM = 100
ON_DISK = 100_000


class Tab:
    """One open page: a connection that stays."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self.base = parts.path
        self.connection = http.client.HTTPConnection(str(parts.hostname), parts.port)

    def post(self, path: str, body: Any) -> Any:
        self.connection.request("POST", self.base + path, json.dumps(body))
        return json.loads(self.connection.getresponse().read())

    def get(self, path: str) -> Any:
        self.connection.request("GET", self.base + path)
        return json.loads(self.connection.getresponse().read())


def random_edits(data: Data, dice: random.Random) -> GraphEdits:
    """Return one to six edits of all kinds that fit a graph."""
    count = int(data.num_nodes)
    present = sorted({(min(u, v), max(u, v)) for u, v in data.edge_index.t().tolist()})
    absent = [(v, u) for u in range(count) for v in range(u) if (v, u) not in set(present)]
    return GraphEdits(
        removed_edges=frozenset(dice.sample(present, min(len(present), dice.randint(1, 3)))),
        added_edges=frozenset(dice.sample(absent, min(len(absent), dice.randint(0, 1)))),
        removed_nodes=frozenset(dice.sample(range(count), dice.randint(0, 1))),
        zeroed_features=frozenset((dice.randrange(count), dice.randrange(2)) for _ in range(1)),
    )


def timed(call: Callable[[], Any]) -> tuple[Any, float, float]:
    """Return what a call returns, and its milliseconds, wall and CPU."""
    wall, cpu = time.perf_counter(), time.process_time()
    found = call()
    return found, 1000 * (time.perf_counter() - wall), 1000 * (time.process_time() - cpu)


def bare_forward(model: Any, data: Data) -> list[float]:
    """Return class probabilities by a plain call."""
    batch = torch.zeros(int(data.num_nodes), dtype=torch.long)
    with torch.no_grad():
        output = model(data.x, data.edge_index, batch)
    return output.double().softmax(-1)[0].tolist()


def load() -> float:
    """Return how many processes want to run, per core, over the last minute."""
    return os.getloadavg()[0] / (os.cpu_count() or 1)


def edit_many(address: str, graphs: Any, model: Any) -> dict[str, float]:
    """Return times, differences and leaks of random edits."""
    tab, dice, process = Tab(address), random.Random(0), psutil.Process()
    walls, cpus, bare, worst, at_first = [], [], [], 0.0, (0.0, 0)
    for number in range(EDITS):
        item = dice.randrange(len(graphs))
        edits = random_edits(graphs[item], dice)
        body = {"item": item, "edits": edits.to_json()}
        tab.post("api/answer", {"item": item})  # a user sees a graph before editing it
        answer, wall, cpu = timed(partial(tab.post, "api/answer", body))
        walls.append(wall)
        cpus.append(cpu)
        data = edits.apply(graphs[item]).data
        scores, _, own = timed(partial(bare_forward, model, data))
        bare.append(own)
        differences = (abs(a - b) for a, b in zip(answer["scores"], scores, strict=True))
        worst = max(worst, *differences)
        if number == WARM:
            at_first = process.memory_info().rss / 2**20, process.num_fds()
    p95_wall, p95_cpu = (quantiles(times, n=20)[18] for times in (walls, cpus))
    return {
        "edits": EDITS,
        "largest_difference": worst,
        "load": load(),
        "median_ms": median(walls),
        "p95_ms": p95_wall,
        "median_cpu_ms": median(cpus),
        "p95_cpu_ms": p95_cpu,
        "forward_cpu_ms": median(bare),
        "median_in_forwards": median(cpus) / median(bare),
        "p95_in_forwards": p95_cpu / median(bare),
        "mb_after_100": at_first[0],
        "mb_after_all": process.memory_info().rss / 2**20,
        "files_after_100": at_first[1],
        "files_after_all": process.num_fds(),
    }


def many_tabs(address: str, tabs: int = 20) -> dict[str, float]:
    """Return how long it takes until every one of many tabs is answered."""
    began = time.perf_counter()
    with ThreadPoolExecutor(tabs) as pool:
        answers = pool.map(lambda i: Tab(address).post("api/answer", {"item": i}), range(tabs))
        answered = sum("scores" in answer for answer in answers)
    return {"tabs": tabs, "answered": answered, "ms": 1000 * (time.perf_counter() - began)}


class Stored(OnDiskDataset):
    """Graphs in a database on disk."""

    def __init__(self, root: str) -> None:
        super().__init__(root, backend="sqlite")


def open_studio(model: Any, dataset: Any, cache: Path) -> tuple[Server, Any]:
    """Return a server and the last rows of its table."""
    server = Server(Session(model, dataset, cache=cache), port=0)
    server.start()
    return server, Tab(server.address).get("api/rows?offset=99800")


def database(graphs: Any, folder: Path) -> OnDiskDataset:
    """Return 100,000 graphs in a database."""
    dataset = Stored(str(folder))
    for start in range(0, ON_DISK, 1_000):
        dataset.extend([graphs[i % len(graphs)] for i in range(start, start + 1_000)])
    return dataset


def files(graphs: Any, folder: Path, suffix: str) -> DirectorySource:
    """Return 100,000 graphs in a directory of 100 files."""
    save = write_graphs if suffix == "safetensors" else torch.save
    folder.mkdir()
    for start in range(0, ON_DISK, 1_000):
        part = [graphs[i % len(graphs)] for i in range(start, start + 1_000)]
        save(part, folder / f"part-{start:06}.{suffix}")
    return DirectorySource(folder)


STORES: dict[str, Callable[[Any, Path], Any]] = {
    "OnDiskDataset": database,
    "safetensors": partial(files, suffix="safetensors"),
    "pt": partial(files, suffix="pt"),
}


def on_disk(dataset: Any, model: Any, cache: Path) -> dict[str, float]:
    """Return how long graphs on disk take to open, and what memory they take."""
    process = psutil.Process()
    before = process.memory_info().rss / 2**20
    (server, rows), wall, cpu = timed(partial(open_studio, model, dataset, cache))
    opened = process.memory_info().rss / 2**20
    time.sleep(5)  # the background explains on
    after = process.memory_info().rss / 2**20
    server.close()
    return {
        "graphs": rows["count"],
        "open_s": wall / 1000,
        "open_cpu_s": cpu / 1000,
        "mb_before": before,
        "mb_opened": opened,
        "mb_after": after,
        "explained_meanwhile": int(server.session.table.num_known),
    }


def main() -> None:
    torch.set_num_threads(1)
    dataset, (model, _) = datasets.load("Mutagenicity"), zoo.load("Mutagenicity", "gin")
    model.eval()
    with tempfile.TemporaryDirectory() as scratch:
        server = Server(Session(model, dataset, cache=Path(scratch, "cache")), port=0)
        server.start()
        edited = edit_many(server.address, dataset.graphs, model)
        tabs = many_tabs(server.address)
        server.close()
        found = {"edits": edited, "tabs": tabs}
        for name, make in STORES.items():
            stored = make(dataset.graphs, Path(scratch, name))
            found[name] = on_disk(stored, model, Path(scratch, f"{name}-rows"))
    json.dump(found, sys.stdout, indent=2)
    rows = [
        {"case": case, "measure": name, "value": value}
        for case, values in found.items()
        for name, value in values.items()
    ]
    write("studio", rows)


if __name__ == "__main__":
    main()
