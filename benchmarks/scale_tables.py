"""The tables of the page about scale, made from committed rows."""

from __future__ import annotations

import csv
from collections.abc import Callable
from functools import cache
from pathlib import Path

_ROOT = Path(__file__).parents[1]
_RESULTS = _ROOT / "benchmarks" / "results"
PAGE = _ROOT / "docs" / "scale.md"

_PLACES = {
    "explain_dataset": "`explain_dataset`, nothing written",
    "one process": "one process",
    "--workers 2": "`--workers 2`, graphs from memory",
    "--workers 2, files": "`--workers 2`, graphs read by the workers",
    "--ray": "`--ray`, graphs from memory",
}
_KEPT = {
    "memory": "memory, packed and unpacked",
    ".safetensors": "`.safetensors` files",
    ".pt": "`.pt` files",
    "OnDiskDataset": "`OnDiskDataset`",
}
_CORES = (2, 64, 1_000)
_SHOWN = 5  # memory samples, evenly spread


@cache
def _read(name: str, folder: str = "speed") -> list[dict[str, str]]:
    with (_RESULTS / folder / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def _rate(place: str) -> float:
    return next(float(r["rows_per_second"]) for r in _read("throughput") if r["place"] == place)


def _driver(place: str) -> float:
    return next(float(r["driver_ms_per_row"]) for r in _read("throughput") if r["place"] == place)


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def throughput() -> str:
    """Return rows per second, and what that is of one process and of two."""
    rows = []
    for name in [row["place"] for row in _read("throughput")]:
        shares = [f"{_rate(name) / _rate(other):.2f}" for other in ("one process", "--workers 2")]
        driver = f"{_driver(name):.3f} ms" if name.startswith("--") else ""
        rows.append([_PLACES[name], f"{_rate(name):,.0f}", *shares, driver])
    return _table(["", "rows/s", "of one process", "of two", "driver's CPU per row"], rows)


def outlook() -> str:
    """Return what the measured times allow on more cores."""
    each = 2e3 / _rate("--workers 2")
    memory, files = _driver("--workers 2"), _driver("--workers 2, files")
    rows = []
    for cores in _CORES:
        wanted = 1e3 * cores / each
        limits = [min(wanted, 1e3 / driver) for driver in (memory, files)]
        minutes = f"{1e6 / limits[1] / 60:.1f}"
        rows.append([f"{cores:,}", f"{wanted:,.0f}", *(f"{rate:,.0f}" for rate in limits), minutes])
    last = [f"{each / driver:,.0f}" for driver in (memory, files)]
    rows.append(["cores at which the driver is full", "", *last, ""])
    header = ["cores", "rows/s they compute", "graphs from memory", "graphs from files"]
    return _table([*header, "minutes for a million, from files"], rows)


def memory() -> str:
    """Return what each of two workers holds as a run goes on."""
    rows = _read("throughput_memory")
    places = sorted({round(i * (len(rows) - 1) / (_SHOWN - 1)) for i in range(_SHOWN)})
    cells = [[rows[place][key] for place in places] for key in ("least_mb", "most_mb")]
    header = ["rows done", *(f"{int(rows[place]['done']):,}" for place in places)]
    return _table(header, [["smaller worker, MB", *cells[0]], ["larger worker, MB", *cells[1]]])


def reading() -> str:
    """Return what a worker needs to get a graph, alone and as one of eight."""
    found: dict[str, list[str]] = {}
    for row in _read("reading"):
        cells = found.setdefault(row["place"], [_KEPT[row["place"]]])
        cells.append(f"{float(row['cpu_ms_per_graph']):.2f} ms")
    return _table(["graphs from", "one worker", "one of eight"], list(found.values()))


def links() -> str:
    """Return what a thousand links of typed graphs cost, and what the process holds."""
    rows = [
        [
            f"{int(row['edges']):,}",
            row["groups_per_link"],
            f"{float(row['later_cpu_ms_per_link']):.1f} ms",
            f"{row['mb_after_128']} MB",
            f"{row['mb_at_the_end']} MB",
        ]
        for row in _read("links")
    ]
    header = ["edges of the graph", "of these around a link", "CPU per link"]
    return _table([*header, "held after 128 links", "after 1,000"], rows)


def faults() -> str:
    """Return how often each fault was tried, and how many of its tests' cases failed."""
    rows = [
        [row["fault"], f"{int(row['cases']):,}", row["failed"]] for row in _read("faults", "faults")
    ]
    return _table(["fault", "cases", "wrong, lost, twice, or a raw error"], rows)


TABLES: dict[str, Callable[[], str]] = {
    "throughput": throughput,
    "outlook": outlook,
    "memory": memory,
    "reading": reading,
    "faults": faults,
    "links": links,
}
