"""`eigsearch compare`: the same predictions through several explainers."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from eigsearch.cli import flags


def compare(
    context: typer.Context,
    dataset: flags.Dataset = None,
    data: flags.DataFile = None,
    model: flags.Model = "gin",
    weights: flags.Weights = None,
    model_args: flags.ModelArgs = None,
    explainers: Annotated[
        str, typer.Option(help="Explainers by name, with commas; `all` takes every one.")
    ] = "eig_search,gnnexplainer,occlusion,random",
    index: flags.SomeIndex = "0:20",
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
    from eigsearch import store
    from eigsearch.cli.arena import make_ranker, pick_explainers
    from eigsearch.cli.choose import choose_data, choose_model
    from eigsearch.cli.pages import check_comparison, write_comparison
    from eigsearch.cli.printing import as_json, say
    from eigsearch.cli.running import Assignment, carry_out, chosen
    from eigsearch.cli.tables import print_findings
    from eigsearch.cli.typed import is_typed
    from eigsearch.options import Options
    from eigsearch.report import Names

    graphs = choose_data(dataset, data, data_root, "node" if node is not None else None)
    graph = index if node is None or is_typed(context, "index") else None
    selection = chosen(graphs, graph, node)
    network = choose_model(model, graphs, weights, model_args)
    if report is not None:
        check_comparison(report)
    options = Options(sparsity=sparsity)
    every = 10**9  # an explainer that cannot serve this model is a line of the table, no error
    runs: list[tuple[str, dict[str, Any]]] = []
    shown: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for name in pick_explainers(explainers):
            path = Path(scratch, name)
            ranker = make_ranker(name, network, graphs, seed)
            assignment = Assignment(graphs, network, replace(options, ranker=ranker), selection)
            found = carry_out(assignment, path, seed=seed, max_failures=every)
            reasons = store.ResultDirectory(path).failures()
            runs.append((name, {**found, "error": reasons[0] if reasons else None}))
            shown.update((name, one) for one in islice(store.read(path, graphs.graphs), 1))
    wanted = report if shown else None
    page = None if wanted is None else write_comparison(shown, wanted, Names.of(graphs))
    if json:
        as_json([{"explainer": name, **found} for name, found in runs])
    else:
        print_findings(graphs.name, runs)
        _print_reasons(runs)
        if page is not None:
            say(f"Page: {page}")
    _refuse_nothing(runs)


def _print_reasons(runs: Sequence[tuple[str, dict[str, Any]]]) -> None:
    """Print, for each explainer that failed, the first reason."""
    from eigsearch.cli.printing import say

    for name, found in runs:
        if found["error"]:
            say(f"{name} failed in {found['failures']} of {found['rows']}: {found['error']}")


def _refuse_nothing(runs: Sequence[tuple[str, dict[str, Any]]]) -> None:
    """Refuse to call a comparison a success in which nothing was explained."""
    from eigsearch.errors import ModelError

    if all(found["failures"] == found["rows"] for _, found in runs):
        raise ModelError(
            f"Expected at least one explanation (got none by {', '.join(n for n, _ in runs)}). "
            "Mend what the reasons name, or choose other explainers."
        )
