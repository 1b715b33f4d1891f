"""`eigsearch compare`: the same predictions through several explainers."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from eigsearch.cli import flags
from eigsearch.cli.option_flags import takes_option_flags


@takes_option_flags("search", "size")
def compare(
    dataset: flags.Dataset = None,
    data: flags.DataFile = None,
    smiles_column: flags.SmilesColumn = None,
    id_column: flags.IdColumn = None,
    label_column: flags.LabelColumn = None,
    featurizer: flags.Featurizer = "pyg",
    class_names: flags.ClassNames = None,
    unit: flags.Unit = None,
    model: flags.Model = "gin",
    weights: flags.Weights = None,
    model_args: flags.ModelArgs = None,
    explainers: Annotated[
        str, typer.Option(help="Explainers by name, with commas; `all` takes every one.")
    ] = "eig_search,gnnexplainer,occlusion,random",
    index: flags.SomeIndex = None,
    node: flags.Node = None,
    link: flags.Link = None,
    links: flags.Links = None,
    data_root: flags.DataRoot = None,
    seed: flags.Seed = 0,
    report: Annotated[
        Path | None, typer.Option(help="Write a page that shows the first prediction by each.")
    ] = None,
    json: flags.AsJson = False,
    **options: Any,
) -> None:
    """Compare explainers on the same predictions, each with the same search over its ranking.

    [bold]Example[/bold]

        eigsearch compare --dataset BA-2Motifs --model gin --explainers eig_search,gradcam,ig
    """
    from eigsearch.cli.console import print_json, print_line
    from eigsearch.cli.explain_run import ExplainRun
    from eigsearch.cli.explainer_args import parse_explainers
    from eigsearch.cli.explainer_comparison import compare_explainers, shared_prediction
    from eigsearch.cli.loading import Columns, load_data, parse_groups
    from eigsearch.cli.model_loading import load_network
    from eigsearch.cli.output_files import check_comparison, write_comparison
    from eigsearch.cli.selection import Asked, select
    from eigsearch.cli.tables import print_findings
    from eigsearch.options import Options
    from eigsearch.pipeline import Pipeline
    from eigsearch.visualization import Names

    columns = Columns(smiles_column, id_column, label_column, featurizer, class_names, unit)
    asked = Asked(index, node, link, links)
    graphs = load_data(dataset, data, data_root, asked.task, columns=columns)
    selection = select(graphs, asked, default=flags.FEW)
    network = load_network(model, graphs, weights, model_args)
    if report is not None:
        check_comparison(report)
    options["groups"] = parse_groups(options["groups"])
    run = ExplainRun(graphs, network, Options(**options), selection)
    Pipeline(network, run.options)  # an unusable model is one error, not one per explainer
    with tempfile.TemporaryDirectory() as scratch:
        runs = compare_explainers(parse_explainers(explainers), run, seed, Path(scratch))
        served = [name for name, found in runs.items() if found["failures"] < found["rows"]]
        shown = {} if report is None else shared_prediction(served, Path(scratch), graphs.graphs)
    page = write_comparison(shown, report, Names.of(graphs)) if report and shown else None
    if json:
        print_json([{"explainer": name, **found} for name, found in runs.items()])
    else:
        print_findings(graphs.name, list(runs.items()))
        if page is not None:
            print_line(f"Page: {page}")
    _print_failures(runs)
    if not served:
        raise _nothing_explained(list(runs))


def _print_failures(runs: Mapping[str, dict[str, Any]]) -> None:
    """Print the number of failures of each explainer and the first reason."""
    from eigsearch.cli.console import print_note

    for name, found in runs.items():
        if found["error"]:
            print_note(f"{name} failed in {found['failures']} of {found['rows']}: {found['error']}")


def _nothing_explained(names: Sequence[str]) -> Exception:
    from eigsearch.errors import ModelError

    return ModelError(
        f"Expected at least one explanation (got none by {', '.join(names)}). "
        "Mend what the reasons name, or choose other explainers."
    )
