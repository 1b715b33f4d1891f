"""`eigsearch explain`: the subgraphs behind the predictions of a model."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import typer

from eigsearch.cli import flags
from eigsearch.cli.option_flags import takes_option_flags

INTERRUPTED = 130  # as a shell has it for Ctrl-C


@takes_option_flags()
def explain(
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
    index: flags.Index = None,
    node: flags.Node = None,
    link: flags.Link = None,
    links: flags.Links = None,
    target: flags.Target = None,
    flip: flags.Flip = False,
    to: flags.To = None,
    add: flags.Add = None,
    answers: flags.Answers = None,
    data_root: flags.DataRoot = None,
    explainer: flags.Explainer = "eig_search",
    search: flags.Search = None,
    seed: flags.Seed = 0,
    out: flags.Out = None,
    workers: flags.Workers = None,
    ray: flags.Ray = None,
    device: flags.Device = None,
    num_gpus: flags.NumGpus = 0.0,
    shard_size: flags.ShardSize = None,
    max_failures: flags.MaxFailures = None,
    report: flags.Report = None,
    json: flags.AsJson = False,
    **options: Any,
) -> None:
    """Explain predictions: which edges does the model need, and which suffice?

    [bold]Examples[/bold]

    The first fifty molecules of MUTAG, rows and a page of pictures into results/:

        eigsearch explain --dataset MUTAG --model gcn --index 0:50 --out results --report page.html

    Your own graphs and your own model (its module is imported; nothing else is executed):

        eigsearch explain --data mine.pt --model mypkg.models:Net --weights net.safetensors

    Nodes of a node set, on all cores; repeat the command after a crash and it goes on:

        eigsearch explain --dataset BA-Shapes --node 300:400 --out results --workers 8

    A link, and links of a file, one a line:

        eigsearch explain --data graph.pt --model mypkg.models:Net --link 3,7

        eigsearch explain --dataset Two-Ways --model hetero --links pairs.csv --out results

    The smallest sets of edges whose removal or addition changes the prediction:

        eigsearch explain --dataset MUTAG --model gcn --index 0:50 --flip --add --out flips
    """
    from eigsearch._utils.atomic_files import path_inside
    from eigsearch.cli.console import print_line
    from eigsearch.cli.explain_run import ExplainRun
    from eigsearch.cli.explainer_args import make_ranker
    from eigsearch.cli.flip_run import about_molecules, parse_flip
    from eigsearch.cli.loading import Columns, load_data, parse_features, parse_groups
    from eigsearch.cli.model_loading import check_device, describe_model, load_network
    from eigsearch.cli.output_files import check_outputs
    from eigsearch.cli.output_reading import settle_run
    from eigsearch.cli.selection import Asked, select
    from eigsearch.options import Options

    wanted = parse_flip(
        flip,
        own={"to": _number(to), "add": add, "answers": answers},
        search=search,
        explainer=None if explainer == "eig_search" else explainer,
        options=options,
    )
    if wanted is not None:
        search, options["max_size"] = None, None  # these options describe the change
    options["groups"] = parse_groups(options["groups"])
    options["features"] = parse_features(options["features"])
    columns = Columns(smiles_column, id_column, label_column, featurizer, class_names, unit)
    asked = Asked(index, node, link, links)
    graphs = load_data(dataset, data, data_root, asked.task, columns=columns)
    selection = select(graphs, asked)
    network = load_network(model, graphs, weights, model_args)
    settings = Options(
        **options,
        ranker=make_ranker(explainer, seed),
        search=_search(search, options["size"]),
    )
    page = None if report is None else path_inside(out or Path(), report)
    check_outputs(out, page, len(selection))
    about = {"explainer": explainer, **describe_model(model, model_args)}
    wanted = about_molecules(wanted, graphs)
    run = ExplainRun(graphs, network, settings, selection, target, about, wanted)
    run, reading = settle_run(run)
    if reading and not json:
        print_line(reading)
    where: dict[str, Any] = {
        "seed": seed,
        "workers": workers,
        "ray": ray,
        "num_gpus": num_gpus,
        "device": check_device(device),
        "shard_size": shard_size,
        "max_failures": max_failures,
    }
    with tempfile.TemporaryDirectory() as scratch:
        path = out or Path(scratch, "results")
        found = _execute(run, path, where, stays=out is not None)
        _print_results(found, run.dataset, path, out, page, json)


def _number(value: float | None) -> int | float | None:
    """Return a whole number as the class that it may be.

    >>> _number(2.0), _number(0.5)
    (2, 0.5)
    """
    return int(value) if value is not None and value.is_integer() else value


def _search(search: str | None, size: int | None) -> str:
    """Return the search that a user chose, "fixed" if `size` is given."""
    from eigsearch.errors import InputError

    if size is None:
        return search or flags.SEARCH
    if search not in (None, "fixed"):
        raise InputError(
            f"Expected either --search or --size (got both: {search} and {size}). "
            "A search finds the size by itself; leave one of them out."
        )
    return "fixed"


def _execute(run: Any, path: Path, where: dict[str, Any], stays: bool) -> dict[str, Any]:
    """Explain into a directory; an error names it only where it stays."""
    from eigsearch.cli.console import print_note
    from eigsearch.cli.explain_run import execute
    from eigsearch.errors import ModelError
    from eigsearch.parallel.run_to_directory import RunError

    try:
        return execute(run, path, **where)
    except RunError as error:
        if stays:
            raise
        raise ModelError(error.finding) from error
    except KeyboardInterrupt:
        if stays:
            print_note(f"Stopped; the rows so far are in {path}. Repeat the command to go on.")
        raise typer.Exit(INTERRUPTED) from None


def _print_results(
    found: dict[str, Any], dataset: Any, path: Path, out: Path | None, page: Path | None, json: bool
) -> None:
    from eigsearch import store
    from eigsearch.cli.console import print_json, print_line
    from eigsearch.cli.flip_run import print_flips
    from eigsearch.cli.output_files import write_page
    from eigsearch.cli.tables import print_explanations, print_findings
    from eigsearch.visualization import Names

    if page is not None:
        rows = store.rows(path, ["index", "error"])
        write_page(store.read(path, dataset.graphs), page, Names.of(dataset), rows)
    if json:
        print_json({**found, "out": out, "report": page})
        return
    if "flipped" in found:
        print_flips(found, dataset)
    else:
        print_explanations(path, dataset)
        print_findings(dataset.name, [("all", found)])
    if out is not None:
        print_line(f"Rows: {out}/rows (read them with eigsearch.store.read, pandas or DuckDB)")
    if page is not None:
        print_line(f"Page: {page}")
