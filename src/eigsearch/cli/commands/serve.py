"""`eigsearch serve`: a model and its data in a local web app."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated, Any

import typer

from eigsearch.cli import flags

_SERVER = "The server"


def serve(
    results: Annotated[
        Path | None,
        typer.Argument(
            help="What `eigsearch explain --out` wrote: its rows, its options, and where they can "
            "be found by name its data and its model."
        ),
    ] = None,
    dataset: flags.Dataset = None,
    data: flags.DataFile = None,
    smiles_column: flags.SmilesColumn = None,
    id_column: flags.IdColumn = None,
    label_column: flags.LabelColumn = None,
    featurizer: flags.Featurizer = "pyg",
    class_names: flags.ClassNames = None,
    unit: flags.Unit = None,
    model: flags.ServedModel = None,
    weights: flags.Weights = None,
    model_args: flags.ModelArgs = None,
    data_root: flags.DataRoot = None,
    nodes: Annotated[
        bool, typer.Option("--nodes", help="Explain the nodes of the one graph in --data.")
    ] = False,
    node_type: Annotated[
        str | None, typer.Option(help="The type of these nodes, in a typed graph.")
    ] = None,
    link: Annotated[
        str | None,
        typer.Option(help="A link of the one graph to open: 3,7, in a typed graph user:3,movie:7."),
    ] = None,
    links: Annotated[
        Path | None,
        typer.Option(
            help="A text file of links to list, one a line; by default those that the graph lists "
            "as `edge_label_index`."
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(help="Port on this machine; 8642 or a free one.", rich_help_panel=_SERVER),
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open a browser.", rich_help_panel=_SERVER)] = True,
    cache: Annotated[
        Path | None,
        typer.Option(
            help="The directory for explanations, by default in the user's cache.",
            rich_help_panel=_SERVER,
        ),
    ] = None,
) -> None:
    """Open a model in the browser: sort its predictions, edit a graph, see why.

    Only this machine can reach the app, and only with the address that is printed.

    [bold]Examples[/bold]

        eigsearch serve --dataset BA-2Motifs --model gin

        eigsearch serve --data mine.pt --model mypkg.models:Net --weights net.safetensors

        eigsearch serve --data mine.pt --model mypkg.models:Net --links pairs.txt

        eigsearch serve results --data mine.pt --weights net.safetensors
    """
    from eigsearch.app.launch import require_extra
    from eigsearch.cli.console import print_line
    from eigsearch.cli.loading import Columns, load_data
    from eigsearch.cli.model_loading import load_network
    from eigsearch.cli.selection import Asked, asked_links
    from eigsearch.cli.served_results import open_results
    from eigsearch.cli.snippet_lines import snippet_lines

    require_extra()
    from eigsearch.app.server import Server
    from eigsearch.app.session import Session

    earlier = open_results(results, dataset, data, model, model_args)
    dataset, model, model_args = earlier.dataset, earlier.model, earlier.model_args
    columns = Columns(smiles_column, id_column, label_column, featurizer, class_names, unit)
    asked = Asked(link=link, links=links)
    task = asked.task or ("node" if nodes or node_type else earlier.task)
    graphs = load_data(dataset, data, data_root, task, columns=columns)
    network = load_network(model, graphs, weights, model_args)
    loaded = dataset, data, data_root, model, weights, model_args
    origin = snippet_lines(*loaded, graphs.task, columns.arguments)
    about: dict[str, Any] = {"links": asked_links(asked), "node_type": node_type}
    session = Session(network, graphs, cache=cache, origin=origin, **about, **earlier.keywords)
    server = Server(session, port)
    print_line(f"Studio of {graphs.name}: {server.address}")
    print_line("Ctrl-C ends it.")
    if browser:
        webbrowser.open(server.address)
    server.run()
