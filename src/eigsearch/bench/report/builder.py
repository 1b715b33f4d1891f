"""The report: rows in, tables, figures and one page out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from eigsearch._utils.atomic_files import write_atomic
from eigsearch.bench.report.coverage import conditions, overview_exhibits
from eigsearch.bench.report.fidelity import fidelity_exhibits
from eigsearch.bench.report.figure import Exhibit
from eigsearch.bench.report.induced_subgraphs import inducing_exhibits
from eigsearch.bench.report.node_auc import node_exhibits
from eigsearch.bench.report.other_metrics import beyond_exhibits
from eigsearch.bench.report.page import Picture, page
from eigsearch.bench.report.qualitative import gallery_exhibits
from eigsearch.bench.report.runtime import effort_exhibits
from eigsearch.bench.report.search_comparison import search_exhibits
from eigsearch.bench.report.search_side_effects import drift_exhibits
from eigsearch.bench.report.theme import DARK, LIGHT, Draw, render
from eigsearch.bench.rows.frame import read_frame

if TYPE_CHECKING:
    import pandas as pd

_MAKERS = (
    fidelity_exhibits,
    search_exhibits,
    drift_exhibits,
    effort_exhibits,
    node_exhibits,
    gallery_exhibits,
    inducing_exhibits,
    beyond_exhibits,
    overview_exhibits,
)


def exhibits(frame: pd.DataFrame) -> list[Exhibit]:
    """Return everything that rows can show, in the order of the report."""
    return [exhibit for make in _MAKERS for exhibit in make(frame)]


def write_report(results: str | Path, out: str | Path | None = None) -> Path:
    """Write tables, figures and the page of a directory of results; return the page's path.

    By default they go into `report` inside of it. Nothing is computed anew: only rows are read.
    """
    folder = Path(out) if out is not None else Path(results) / "report"
    frame = read_frame(results)
    for part in ("tables", "figures"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    shown = exhibits(frame)
    pictures: dict[str, dict[str, Picture]] = {}
    for exhibit in shown:
        _write_table(exhibit, folder / "tables")
        if exhibit.draw is not None:
            pictures[exhibit.name] = _write_figure(exhibit, exhibit.draw, folder / "figures")
    path = folder / "index.html"
    write_atomic(path, page(shown, pictures, conditions(frame)).encode())
    return path


def _write_figure(exhibit: Exhibit, draw: Draw, folder: Path) -> dict[str, Picture]:
    """Write a figure as SVG and PNG; return it as the page shows it on each ground."""
    files = {form: render(draw, LIGHT, form) for form in ("svg", "png")}
    for form, content in files.items():
        write_atomic(folder / f"{exhibit.name}.{form}", content)
    form = "png" if exhibit.detailed else "svg"
    dark = files[form] if exhibit.detailed else render(draw, DARK, form)
    return {"light": Picture(form, files[form]), "dark": Picture(form, dark)}


def _write_table(exhibit: Exhibit, folder: Path) -> None:
    if exhibit.table is not None:
        text = f"# {exhibit.title}\n\n{exhibit.text}\n\n{exhibit.table.markdown()}"
        write_atomic(folder / f"{exhibit.name}.md", text.encode())
        content = exhibit.table.frame.to_csv(index=False, float_format="%.6g", lineterminator="\n")
        write_atomic(folder / f"{exhibit.name}.csv", content.encode())
