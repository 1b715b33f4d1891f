"""`eigsearch train`: a network like those of the zoo."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer

from eigsearch.cli import flags


def train(
    dataset: flags.Dataset = None,
    data: flags.DataFile = None,
    smiles_column: flags.SmilesColumn = None,
    id_column: flags.IdColumn = None,
    label_column: flags.LabelColumn = None,
    featurizer: flags.Featurizer = "pyg",
    model: flags.Layer = "gin",
    out: Annotated[Path, typer.Option(help="The directory for weights and card.")] = Path("models"),
    seed: Annotated[int | None, typer.Option(help="Seed of weights and split.")] = None,
    epochs: Annotated[int | None, typer.Option(help="Stop after so many at the latest.")] = None,
    data_root: flags.DataRoot = None,
    json: flags.AsJson = False,
) -> None:
    """Train a network as the zoo's were: seeded, split 80/10/10, stopped early.

    [bold]Examples[/bold]

        eigsearch train --dataset BA-2Motifs --model gin

        eigsearch explain --dataset BA-2Motifs --weights models/BA-2Motifs-gin.safetensors
    """
    from eigsearch._utils.name_lookup import resolve
    from eigsearch.cli.console import print_json, print_line, print_table
    from eigsearch.cli.directories import check_directory
    from eigsearch.cli.loading import Columns, load_data
    from eigsearch.models import make_card, recipe_for, save_model
    from eigsearch.models import train as fit
    from eigsearch.models.networks import networks_for

    columns = Columns(smiles_column, id_column, label_column, featurizer)
    graphs = load_data(dataset, data, data_root, in_memory=True, columns=columns)
    conv = resolve("model", model, networks_for(graphs))
    recipe = recipe_for(graphs.name, conv)
    recipe = replace(
        recipe,
        seed=recipe.seed if seed is None else seed,
        max_epochs=recipe.max_epochs if epochs is None else epochs,
    )
    check_directory(out)
    result = fit(graphs, conv, recipe)
    card = make_card(result, graphs)
    path = save_model(result.model, card, out)
    if json:
        print_json({**asdict(card), "weights": str(path)})
        return
    accuracy = card.accuracy
    row = [graphs.name, conv, accuracy.train, accuracy.val, accuracy.test]
    headers = ["data set", "model", "train", "validation", "test", "paper", "epochs", "seconds"]
    print_table(
        "Accuracies", headers, [[*row, card.paper_test_accuracy, card.epochs, card.seconds]]
    )
    print_line(f"Weights: {path}")
