"""Build the report of a benchmark: tables, figures and one HTML page from rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from eigsearch._utils.atomic_files import write_atomic
from eigsearch.bench.report.by_class import class_items
from eigsearch.bench.report.coverage import conditions, coverage_items
from eigsearch.bench.report.equal_search import equal_search_items
from eigsearch.bench.report.fidelity import fidelity_items
from eigsearch.bench.report.figure import ReportItem
from eigsearch.bench.report.induced_subgraphs import induced_subgraph_items
from eigsearch.bench.report.networks import network_items
from eigsearch.bench.report.node_auc import node_auc_items
from eigsearch.bench.report.other_metrics import other_metric_items
from eigsearch.bench.report.own_metrics import own_metric_items
from eigsearch.bench.report.page import Picture, page
from eigsearch.bench.report.published_points import published_items
from eigsearch.bench.report.qualitative import qualitative_items
from eigsearch.bench.report.runtime import runtime_items
from eigsearch.bench.report.search_comparison import search_items
from eigsearch.bench.report.search_side_effects import side_effect_items
from eigsearch.bench.report.theme import DARK, LIGHT, Draw, render
from eigsearch.bench.rows.frame import read_frame

if TYPE_CHECKING:
    import pandas as pd

_SECTIONS = (
    equal_search_items,  # equal search for everybody comes first, fixed cuts second
    class_items,
    fidelity_items,
    search_items,
    published_items,
    side_effect_items,
    runtime_items,
    node_auc_items,
    qualitative_items,
    induced_subgraph_items,
    other_metric_items,
    own_metric_items,
    coverage_items,
    network_items,
)


def report_items(frame: pd.DataFrame) -> list[ReportItem]:
    """Return all figures and tables that the rows support, in report order."""
    return [item for make in _SECTIONS for item in make(frame)]


def write_report(results: str | Path, out: str | Path | None = None) -> Path:
    """Write tables, figures and the page of a directory of results; return the page's path.

    By default they go into `report` inside of it. Nothing is computed anew: only rows are read.
    """
    folder = Path(out) if out is not None else Path(results) / "report"
    frame = read_frame(results)
    for part in ("tables", "figures"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    shown = report_items(frame)
    pictures: dict[str, dict[str, Picture]] = {}
    for item in shown:
        _write_table(item, folder / "tables")
        if item.draw is not None:
            pictures[item.name] = _write_figure(item, item.draw, folder / "figures")
    path = folder / "index.html"
    write_atomic(path, page(shown, pictures, conditions(frame)).encode())
    return path


def _write_figure(item: ReportItem, draw: Draw, folder: Path) -> dict[str, Picture]:
    """Write a figure as SVG and PNG; return it as the page shows it on each ground."""
    files = {form: render(draw, LIGHT, form) for form in ("svg", "png")}
    for form, content in files.items():
        write_atomic(folder / f"{item.name}.{form}", content)
    form = "png" if item.detailed else "svg"
    dark = files[form] if item.detailed else render(draw, DARK, form)
    return {"light": Picture(form, files[form]), "dark": Picture(form, dark)}


def _write_table(item: ReportItem, folder: Path) -> None:
    if item.table is not None:
        text = f"# {item.title}\n\n{item.text}\n\n{item.table.markdown()}"
        write_atomic(folder / f"{item.name}.md", text.encode())
        content = item.table.frame.to_csv(index=False, float_format="%.6g", lineterminator="\n")
        write_atomic(folder / f"{item.name}.csv", content.encode())
