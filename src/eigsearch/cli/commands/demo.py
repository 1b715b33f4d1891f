"""`eigsearch demo`: from nothing to explained predictions."""

from __future__ import annotations

import os
import shutil
import sys
from json import loads
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated

import typer

from eigsearch.cli import flags

if TYPE_CHECKING:
    from eigsearch.explanation import SubgraphExplanation

_DATASET, _MODEL = "Cycle-House-None", "gin"
_GRAPHS = [i for i in range(150) if i % 3]  # 50 with a cycle and 50 with a house
_SPARSITY = 0.7  # the limit of the tables in the README
_MARK = {"command": "demo"}  # in the manifest: identifies the results of an earlier demo


def demo(
    out: Annotated[Path, typer.Option(help="Where rows, pictures and the report go.")] = Path(
        "demo"
    ),
    json: flags.AsJson = False,
) -> None:
    """Explain 100 graphs whose true explanation is known: no network, no arguments.

    Generates random trees that carry a cycle, a house or neither, loads the GIN of the zoo that
    tells them apart, and finds the edges behind its answers "cycle" and "house".
    """
    from eigsearch import datasets, store
    from eigsearch.cli.console import print_json, print_line
    from eigsearch.cli.explain_run import ExplainRun, execute
    from eigsearch.cli.output_files import write_page, write_pictures
    from eigsearch.cli.selection import Selection
    from eigsearch.cli.tables import print_findings
    from eigsearch.models import zoo
    from eigsearch.options import Options
    from eigsearch.visualization import Names

    dataset = datasets.generate(_DATASET)
    model, card = zoo.load(_DATASET, _MODEL)
    results = _fresh(out / "results")
    about = {"model_name": _MODEL, **_MARK}
    options = Options(sparsity=_SPARSITY)
    run = ExplainRun(dataset, model, options, Selection(index=_GRAPHS), about=about)
    found = execute(run, results)
    explanations = list(store.read(results, dataset.graphs))
    rows = store.rows(results, ["index", "error"])
    page = write_page(explanations, out / "report.html", Names.of(dataset), rows)
    shown = {"cycle": explanations[0], "house": explanations[1]}
    pictures = write_pictures(shown, out / "pictures", Names.of(dataset))
    if json:
        written = {"out": results, "report": page, "pictures": pictures}
        print_json({**found, "elbow": _at_elbows(explanations), **written})
        return
    print_line(
        f"{dataset.name}: {dataset.description}. Test accuracy of the GIN: {card.accuracy.test}."
    )
    print_findings(dataset.name, [("EiG-Search", found)])
    elbow = _at_elbows(explanations)
    print_line(
        f"The first {elbow['size']:.1f} edges bring 90 % of the gain: precision "
        f"{elbow['precision']:.2f}, recall {elbow['recall']:.2f}."
    )
    print_line(f"Rows: {results}/rows")
    for picture in pictures:
        print_line(f"Picture: {picture}")
    print_line(f"Report: {page.resolve()}")
    serve = f"{_program()} serve --dataset {_DATASET} --model {_MODEL}"
    print_line(f"Open it in the studio: {serve}")


def _program() -> str:
    """Return how to call this program in a shell; `make demo` installs it beside its Python."""
    beside = Path(sys.executable).with_name("eigsearch")
    if shutil.which("eigsearch") or not beside.exists():
        return "eigsearch"
    return os.path.relpath(beside)


def _at_elbows(explanations: list[SubgraphExplanation]) -> dict[str, float]:
    """Return mean size, precision and recall of explanations cut where 90 % of the gain is."""
    from torch import ones_like

    from eigsearch.metrics import precision, recall

    cuts = [each.at(each.elbow()) for each in explanations]
    judged = [(cut.edge_mask, cut.data.edge_label, ones_like(cut.edge_mask)) for cut in cuts]
    return {
        "size": fmean(cut.size for cut in cuts),
        "precision": fmean(float(precision(*each)) for each in judged),
        "recall": fmean(float(recall(*each)) for each in judged),
    }


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
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return False
