"""`eigsearch demo`: from nothing to explained predictions."""

from __future__ import annotations

import shutil
from json import loads
from pathlib import Path
from typing import Annotated

import typer

from eigsearch.cli import flags

_STEP = 10  # every tenth of 1,000 graphs: 50 with a cycle and 50 with a house
_MARK = {"command": "demo"}  # in the manifest: identifies the results of an earlier demo


def demo(
    out: Annotated[Path, typer.Option(help="Where rows, pictures and the report go.")] = Path(
        "demo"
    ),
    json: flags.AsJson = False,
) -> None:
    """Explain 100 graphs whose true explanation is known: no network, no arguments.

    Generates BA-2Motifs (random trees that carry a cycle or a house), loads the GIN of the zoo that
    tells the two apart, and finds the edges behind its answers.
    """
    from eigsearch import datasets, store
    from eigsearch.cli.console import print_json, print_line
    from eigsearch.cli.explain_run import ExplainRun, Selection, execute
    from eigsearch.cli.output_files import write_page, write_pictures
    from eigsearch.cli.tables import print_findings
    from eigsearch.models import zoo
    from eigsearch.options import Options
    from eigsearch.visualization import Names

    dataset = datasets.generate("BA-2Motifs")
    model, card = zoo.load("BA-2Motifs", "gin")
    results = _fresh(out / "results")
    selection = Selection(index=range(0, len(dataset), _STEP))
    about = {"model_name": "gin", **_MARK}
    run = ExplainRun(dataset, model, Options(), selection, about=about)
    found = execute(run, results)
    explanations = list(store.read(results, dataset.graphs))
    rows = store.rows(results, ["index", "error"])
    page = write_page(explanations, out / "report.html", Names.of(dataset), rows)
    shown = {"cycle": explanations[0], "house": explanations[-1]}
    pictures = write_pictures(shown, out / "pictures", Names.of(dataset))
    if json:
        written = {"out": results, "report": page, "pictures": pictures}
        print_json({**found, **written})
        return
    print_line(
        f"{dataset.name}: {dataset.description}. Test accuracy of the GIN: {card.accuracy.test}."
    )
    print_findings(dataset.name, [("EiG-Search", found)])
    print_line(f"Rows: {results}/rows")
    for picture in pictures:
        print_line(f"Picture: {picture}")
    print_line(f"Report: {page.resolve()}")
    print_line("Open it in the studio: eigsearch serve --dataset BA-2Motifs --model gin")


def _fresh(directory: Path) -> Path:
    """Remove the results of an earlier demo, and nothing else; return the directory."""
    if _is_demo(directory / "manifest.json"):
        shutil.rmtree(directory)
    return directory


def _is_demo(manifest: Path) -> bool:
    """Return whether a demo of any version wrote a manifest."""
    try:
        config = loads(manifest.read_bytes())["config"]
        return config.items() >= _MARK.items()
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return False
