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
    link: flags.ShownLink = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="A gallery (.html), a grid of pictures (.svg, .png, .pdf), a table (.csv, .xlsx, "
            ".parquet), or a directory for one page per row (pages/). Of one explanation also "
            ".json, .graphml (Gephi) and .cyjs (Cytoscape)."
        ),
    ] = None,
    substructures: Annotated[
        Path | None,
        typer.Option(
            help="Write the fragments that recur in explanations of molecules, with SMARTS, counts "
            "and enrichment, to this table (.csv, .xlsx, .parquet)."
        ),
    ] = None,
    json: flags.AsJson = False,
) -> None:
    """Show the results of a run: its explanations in a sentence each, and as pictures.

    [bold]Examples[/bold]

        eigsearch view results

        eigsearch view results --out gallery.html

        eigsearch view results --index 3 --out picture.svg

        eigsearch view links --link 3,7 --out link.html

        eigsearch view results --out summary.xlsx

        eigsearch view results --out pages/
    """
    from eigsearch import store
    from eigsearch._utils.table_files import save_table
    from eigsearch.cli.console import print_json, print_line, print_note
    from eigsearch.cli.row_selection import select_rows
    from eigsearch.cli.tables import print_sentences
    from eigsearch.cli.view_output import write_view
    from eigsearch.molecules import substructures as recurring
    from eigsearch.visualization import Names

    manifest = store.read_manifest(store.ResultDirectory(path).manifest_path)
    rows = select_rows(path, manifest, index, node, link)
    names = Names.from_lists(manifest.config.get("dataset", str(path)), manifest.names)
    found = [store.explanation_of(row, manifest.options) for row in rows if not row["error"]]
    page = None if out is None else write_view(path, found, out, names, rows)
    if substructures is not None:
        fragments = recurring(found, names)
        save_table(fragments, substructures)
        if not fragments:
            print_note(
                "No fragment of two bonds or more is in two explanations; the table is empty."
            )
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
