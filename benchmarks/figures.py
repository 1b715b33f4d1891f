"""Write the tables and pictures of the docs from committed rows, and the reference from the code.

    python -m benchmarks.figures           # rewrite them
    python -m benchmarks.figures --check   # fail where they differ

A table stands between `<!-- name -->` and `<!-- /name -->`; nothing there is typed by hand.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import (
    counterfactual_tables,
    feature_tables,
    mask_tables,
    reference_tables,
    scale_tables,
    search_tables,
    studio_tables,
    typed_tables,
)

ROOT = Path(__file__).parents[1]
ROWS = ROOT / "benchmarks" / "results" / "speed"
PAPER = ROOT / "benchmarks" / "results" / "paper"
LIMIT = 0.7
NOTE = ROOT / "docs" / "design" / "incremental-engine.md"
README = ROOT / "README.md"
Row = dict[str, str]


def read(name: str) -> list[Row]:
    """Return the rows of a measurement."""
    with (ROWS / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def table(header: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def engines() -> str:
    """Return time per explanation, against the slow twin and the bare forward."""
    found: dict[str, list[str]] = {}
    networks: dict[str, None] = {}
    for row in read("engines"):
        networks[row["model"]] = None
        cells = found.setdefault(row["what"], [row["what"]])
        twin, bare = float(row["times_the_twin"]), float(row["of_bare_forward"])
        cells += [f"{float(row['cpu_ms_per_graph']):.2f}", f"{twin:.0f}", f"{bare:.2f}"]
    header = [f"{name.upper() if len(name) == 3 else name}: ms" for name in networks]
    columns = [cell for each in header for cell in (each, "× slow twin", "of bare forward")]
    return table(["", *columns], list(found.values()))


def demo() -> str:
    """Return the demo's table."""
    return table(["", ""], [[row["what"], row["value"]] for row in read("demo")])


def exponents() -> str:
    """Return the fitted exponents of time in the number of edges."""
    rows = []
    for (graph, engine), (edges, seconds, _) in curves().items():
        slope = np.polyfit(np.log(edges), np.log(seconds), 1)[0]
        rows.append([graph, engine, f"{slope:.2f}", f"{edges[-1]:,.0f}", f"{seconds[-1]:.1f}"])
    return table(["graph", "engine", "exponent", "largest graph (edges)", "seconds there"], rows)


def nodes() -> str:
    """Return what explaining one node takes."""
    header = ["graph", "model", "layers", "edges", "evaluated edges", "CPU seconds"]
    header += ["next node", "additional MB"]
    keys = ["graph", "model", "layers", "edges", "candidate_edges", "cpu_seconds"]
    keys += ["next_cpu_seconds", "additional_mb"]
    return table(header, [[row[key] for key in keys] for row in read("nodes")])


def one_link() -> str:
    """Return what explaining one link of a typed graph takes."""
    header = ["model", "", "ms per link", "× batched", "× plain calls", "× slow twin"]
    keys = ["model", "way", "ms_per_link", "times_batched", "times_plain_calls", "times_slow_twin"]
    return table(header, [[row[key] for key in keys] for row in read("one_link")])


def memory() -> str:
    """Return time and peak memory of both engines against the budget, from the smallest on."""
    header = ["engine", "model", "width", "edges", "budget (MB)", "CPU s", "× without", "peak (MB)"]
    columns = ["engine", "model", "width", "edges", "budget_mb", "cpu_seconds"]
    columns += ["times_without", "peak_mb"]
    return table(header, [[row[name] for name in columns] for row in read("memory")])


def profile() -> str:
    """Return the parts of an explanation's time, beside the model's bare forward."""
    rows = [
        [
            row["model"],
            row["equal_states"],
            row["part"],
            f"{float(row['ms_per_graph']):.2f}",
            f"{float(row['share']):.0%}",
            f"{float(row['of_bare_forward']):.0%}",
        ]
        for row in read("profile")
    ]
    header = ["model", "equal states", "part", "ms per molecule", "of the run"]
    return table([*header, "of the bare forward"], rows)


def results() -> str:
    """Return EiG-Search's gain in each setting, and the baseline that comes nearest."""
    from eigsearch.bench.report.margins import margin_frame
    from eigsearch.bench.rows.frame import display_name, over_seeds, paper_comparison, read_frame

    frame = read_frame(PAPER)
    rows = paper_comparison(frame).query("explainer == 'eig_search' and limit == @LIMIT")
    means = over_seeds(rows, ["setting"], ["sparsity", "gain"]).set_index("setting")
    margins = margin_frame(frame).query("limit == @LIMIT").sort_values("margin")
    lines = []
    for setting, nearest in margins.groupby("setting").first().iterrows():
        ours, name = means.loc[setting], display_name(nearest["explainer"])
        others = int((margins["setting"] == setting).sum())
        cells = f"{ours['gain']:.2f}", f"{ours['sparsity']:.2f}", f"{others}"
        lines.append([setting, *cells, f"{name}, {nearest['margin']:+.2f}"])
    header = ["network", "overall fidelity", "average sparsity", "baselines", "nearest, margin"]
    return table(header, lines)


def curves() -> dict[tuple[str, str], tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Return edges, CPU seconds and rows for each kind of graph and engine."""
    points: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
    for row in read("scaling"):
        point = float(row["edges"]), float(row["cpu_seconds"]), float(row["rows"])
        points.setdefault((row["graph"], row["engine"]), []).append(point)
    return {key: tuple(np.array(sorted(value)).T) for key, value in points.items()}


def draw(column: int, label: str, name: str) -> None:
    """Draw a column of the scaling rows against the number of edges."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot as plt

    settings: Any = {"svg.hashsalt": "eigsearch", "svg.fonttype": "none", "font.size": 11}
    with plt.rc_context(settings):
        figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
        colour = {"batched": "#0072b2", "incremental": "#d55e00"}
        for (graph, engine), columns in curves().items():
            shown = columns[column] > 0
            style = "-" if graph == "3-regular" else "--"
            axes.loglog(
                columns[0][shown], columns[column][shown], style, marker="o", color=colour[engine],
                label=f"{engine}, {graph}",
            )  # fmt: skip
        axes.set(xlabel="undirected edges", ylabel=label)
        axes.grid(alpha=0.3)
        axes.legend(frameon=False)
        figure.savefig(ROOT / "docs" / "images" / f"{name}.svg", metadata={"Date": None})
        plt.close(figure)


TABLES: dict[Path, dict[str, Callable[[], str]]] = {
    README: {"engines": engines, "demo": demo, "results": results},
    NOTE: {
        "exponents": exponents,
        "one-link": one_link,
        "memory": memory,
        "nodes": nodes,
        "profile": profile,
    },
    feature_tables.PAGE: feature_tables.TABLES,
    mask_tables.PAGE: mask_tables.TABLES,
    counterfactual_tables.PAGE: counterfactual_tables.TABLES,
    reference_tables.PAGE: reference_tables.TABLES,
    scale_tables.PAGE: scale_tables.TABLES,
    search_tables.PAGE: search_tables.TABLES,
    studio_tables.PAGE: studio_tables.TABLES,
    typed_tables.PAGE: typed_tables.TABLES,
}


def filled(path: Path) -> str:
    """Return the text of a page with its tables made from the rows."""
    text = path.read_text()
    for name, make in TABLES[path].items():
        start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        before, rest = text.split(start)
        after = rest.split(end)[1]
        text = f"{before}{start}\n{make()}\n{end}{after}"
    return text


def main() -> None:
    """Rewrite the pages, or check them."""
    if "--check" in sys.argv:
        stale = ", ".join(path.name for path in TABLES if filled(path) != path.read_text())
        wanted = f"Expected {stale} to match rows and code. Run it without --check."
        sys.exit(wanted if stale else 0)
    for path in TABLES:
        path.write_text(filled(path))
    draw(1, "CPU seconds for one explanation", "scaling")
    draw(2, "node states computed", "rows")


if __name__ == "__main__":
    main()
