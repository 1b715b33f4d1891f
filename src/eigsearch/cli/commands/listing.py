"""`eigsearch datasets`, `models` and `explainers`: what there is to choose from."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from eigsearch.cli import flags


def datasets(json: flags.AsJson = False) -> None:
    """List the data sets that `--dataset` knows."""
    from eigsearch import datasets as registry
    from eigsearch.cli.console import print_json, print_table

    known = [registry.info(name) for name in registry.names()]
    if json:
        keys = ("name", "task", "class_names", "description", "citation")
        print_json([{key: getattr(entry, key) for key in keys} for entry in known])
        return
    rows = [[e.name, e.task, len(e.class_names), e.description, e.citation] for e in known]
    print_table("Data sets", ["name", "explains", "classes", "what it is", "from"], rows)


def models(json: flags.AsJson = False) -> None:
    """List the trained networks that `--model` knows, with their accuracies."""
    from eigsearch.cli.console import print_json, print_table
    from eigsearch.models import zoo

    cards = [zoo.load(dataset, conv)[1] for dataset, conv in zoo.names()]
    if json:
        print_json([asdict(card) for card in cards])
        return
    rows = [
        [
            *(card.dataset, card.recipe.conv, card.recipe.width),
            *(card.accuracy.train, card.accuracy.val, card.accuracy.test),
            *(card.paper_test_accuracy, card.command),
        ]
        for card in cards
    ]
    columns = ["data set", "model", "width", "train", "validation", "test", "paper", "trained by"]
    print_table("Models: accuracies", columns, rows)


def explainers(
    name: Annotated[
        str | None, typer.Argument(help="One explainer, to print all that its card says.")
    ] = None,
    json: flags.AsJson = False,
) -> None:
    """List the explainers that `--explainer` knows, or print the card of one of them."""
    from eigsearch.cli.console import print_json, print_table
    from eigsearch.explainers import registry

    cards = registry.table() if name is None else [registry.describe(name)]
    if json:
        print_json(cards)
    elif name is not None:
        print_table(cards[0]["name"], ["field", "value"], list(cards[0].items()))
    else:
        about = ["explainer", "level", "scores", "tasks", "typed graphs", "trains"]
        columns = [*about, "needs", "cost", "citation"]
        print_table("Explainers", columns, [[card[column] for column in columns] for card in cards])
