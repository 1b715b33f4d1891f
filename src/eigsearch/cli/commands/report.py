"""`eigsearch report`: rows as tables, figures and one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eigsearch.cli.commands.bench import HOME


def report(
    results: Annotated[
        Path | None,
        typer.Argument(help="What `eigsearch bench` wrote, by default its latest results."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Where the report goes, by default RESULTS/report.")
    ] = None,
    discussion: Annotated[
        Path | None, typer.Option(help="Also write the results in words to this .md file.")
    ] = None,
) -> None:
    """Write the report of a benchmark: tables, figures, one page; nothing is run again.

    [bold]Example[/bold]

        eigsearch bench smoke && eigsearch report
    """
    from eigsearch.bench.report.builder import write_report
    from eigsearch.bench.report.discussion import write_discussion
    from eigsearch.cli.console import print_line

    rows = results or _latest()
    print_line(f"Report: {write_report(rows, out).resolve()}")
    if discussion is not None:
        print_line(f"Discussion: {write_discussion(rows, discussion).resolve()}")


def _latest() -> Path:
    """Return the directory under the home of results that was written to last."""
    from eigsearch.errors import InputError

    found = sorted(HOME.glob("*/rows"), key=lambda rows: rows.stat().st_mtime)
    if not found:
        raise InputError(
            f"Expected results of `eigsearch bench` in {HOME} (got none). "
            "Run `eigsearch bench smoke` first, or name the directory."
        )
    return found[-1].parent
