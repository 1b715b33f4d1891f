"""`eigsearch compare`: the same predictions through several explainers."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from eigsearch.cli import flags


def compare(
    dataset: flags.Dataset = None,
    data: flags.DataFile = None,
    model: flags.Model = "gin",
    weights: flags.Weights = None,
    model_args: flags.ModelArgs = None,
    explainers: Annotated[
        str, typer.Option(help="Explainers by name, with commas; `all` takes every one.")
    ] = "eig_search,gnnexplainer,occlusion,random",
    index: flags.SomeIndex = None,
    node: flags.Node = None,
    data_root: flags.DataRoot = None,
    sparsity: flags.Sparsity = 0.5,
    seed: flags.Seed = 0,
    report: Annotated[
        Path | None, typer.Option(help="Write a page that shows the first prediction by each.")
    ] = None,
    json: flags.AsJson = False,
) -> None:
    """Compare explainers on the same predictions, each with the same search over its ranking.

    [bold]Example[/bold]

        eigsearch compare --dataset BA-2Motifs --model gin --explainers eig_search,gradcam,ig
    """
    from eigsearch.cli.console import as_json, say
    from eigsearch.cli.explain_run import Assignment, chosen
    from eigsearch.cli.explainer_args import pick_explainers
    from eigsearch.cli.explainer_comparison import contest, in_common
    from eigsearch.cli.loading import choose_data, choose_model
    from eigsearch.cli.output_files import check_comparison, write_comparison
    from eigsearch.cli.tables import print_findings
    from eigsearch.options import Options
    from eigsearch.pipeline import Pipeline
    from eigsearch.visualization import Names

    graphs = choose_data(dataset, data, data_root, "node" if node is not None else None)
    few = flags.FEW if index is None and node is None else index
    selection = chosen(graphs, few, node)
    network = choose_model(model, graphs, weights, model_args)
    if report is not None:
        check_comparison(report)
    work = Assignment(graphs, network, Options(sparsity=sparsity), selection)
    Pipeline(network, work.options)  # a model that nobody can explain is one error, not one of each
    with tempfile.TemporaryDirectory() as scratch:
        runs = contest(pick_explainers(explainers), work, seed, Path(scratch))
        served = [name for name, found in runs.items() if found["failures"] < found["rows"]]
        shown = {} if report is None else in_common(served, Path(scratch), graphs.graphs)
    page = write_comparison(shown, report, Names.of(graphs)) if report and shown else None
    if json:
        as_json([{"explainer": name, **found} for name, found in runs.items()])
    else:
        print_findings(graphs.name, list(runs.items()))
        if page is not None:
            say(f"Page: {page}")
    _tell_failures(runs)
    if not served:
        raise _nothing_explained(list(runs))


def _tell_failures(runs: Mapping[str, dict[str, Any]]) -> None:
    """Print, for each explainer that failed, how often and the first reason."""
    from eigsearch.cli.console import remark

    for name, found in runs.items():
        if found["error"]:
            remark(f"{name} failed in {found['failures']} of {found['rows']}: {found['error']}")


def _nothing_explained(names: Sequence[str]) -> Exception:
    from eigsearch.errors import ModelError

    return ModelError(
        f"Expected at least one explanation (got none by {', '.join(names)}). "
        "Mend what the reasons name, or choose other explainers."
    )
