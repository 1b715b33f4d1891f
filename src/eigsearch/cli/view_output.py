"""Write the results of a run in the form that the name of a file asks for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from eigsearch import store
from eigsearch._utils.table_files import save_table
from eigsearch.cli.output_files import is_directory, is_table, write_page, write_pages
from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.molecules import rationales
from eigsearch.store import Row
from eigsearch.visualization import Names


def write_view(
    run: Path,
    explanations: Sequence[SubgraphExplanation],
    out: Path,
    names: Names,
    rows: Sequence[Row],
) -> Path:
    """Write a table, pages in a directory, a gallery, a grid or a picture; return the path."""
    if is_table(out):
        return save_table(_lines(run, explanations, rows), out)
    if is_directory(out):
        return write_pages(explanations, out, names, rows)
    return write_page(explanations, out, names, rows)


def _lines(
    run: Path, explanations: Sequence[SubgraphExplanation], rows: Sequence[Row]
) -> list[dict[str, object]]:
    """Return the lines of the summary; those of molecules have their rationale as SMILES."""
    lines = store.summary_table(run, rows)
    if not any(row["smiles"] for row in rows):
        return lines
    fragments = iter(
        ".".join(each.smiles for each in rationales(explanation)) for explanation in explanations
    )
    return [{**line, "rationale": None if line["error"] else next(fragments)} for line in lines]
