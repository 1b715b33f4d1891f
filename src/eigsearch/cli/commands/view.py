"""`eigsearch view`: what a run wrote, as a table and as a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eigsearch.cli import flags


def view(
    path: Annotated[Path, typer.Argument(help="What `eigsearch explain --out` wrote.")],
    index: flags.ShownIndex = None,
    node: flags.ShownNode = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write a gallery to this .html file; of one explanation its .html, .svg or .png."
        ),
    ] = None,
    json: flags.AsJson = False,
) -> None:
    """Show the results of a run: its explanations in a sentence each, and as pictures.

    [bold]Examples[/bold]

        eigsearch view results

        eigsearch view results --out gallery.html

        eigsearch view results --index 3 --out picture.svg
    """
    from eigsearch import store
    from eigsearch.cli.console import print_json, print_line, print_note
    from eigsearch.cli.output_files import write_page
    from eigsearch.cli.row_selection import select_rows
    from eigsearch.cli.tables import print_sentences
    from eigsearch.visualization import Names

    manifest = store.read_manifest(store.ResultDirectory(path).manifest_path)
    rows = select_rows(path, manifest, index, node)
    names = Names.from_lists(manifest.config.get("dataset", str(path)), manifest.names)
    found = [store.explanation_of(row, manifest.options) for row in rows if not row["error"]]
    page = None if out is None else write_page(found, out, names, rows)
    if json:
        print_json({"manifest": manifest.config, "rows": rows, "report": page})
        return
    print_sentences(rows, manifest, names)
    there = len(list(store.rows(path, ["index"])))
    if there < manifest.rows:
        print_note(
            f"{there} of {manifest.rows} rows are there; repeat the command that wrote {path} to "
            "compute the others."
        )
    if page is not None:
        print_line(f"Page: {page}")
