"""Make and train the explainers that a user named."""

from __future__ import annotations

from typing import Any

from eigsearch import explainers
from eigsearch.cli.console import print_status
from eigsearch.datasets import GraphDataset
from eigsearch.errors import InputError
from eigsearch.explainers import Method, registry
from eigsearch.options import Options

OURS = "eig_search"


def parse_explainers(text: str) -> list[str]:
    """Return the distinct names in a comma-separated list; `all` means every explainer."""
    known = explainers.names()
    if text == "all":
        return list(known)
    return list(dict.fromkeys(registry.resolve_name(name.strip()) for name in text.split(",")))


def make_ranker(name: str, seed: int) -> Method | None:
    """Return an untrained ranker; None stands for the linear gradients of EiG-Search."""
    key = registry.resolve_name(name)
    if key == OURS:
        return None
    try:
        method = explainers.get(key)
    except TypeError as error:
        raise InputError(
            f"Expected {name} to be made without arguments (got: {error}). Give them defaults."
        ) from error
    return explainers.get(key, seed=seed) if method.card.seeded else method


def train_ranker(method: Method, model: Any, dataset: GraphDataset, options: Options) -> None:
    """Train an explainer on the model's predictions, and say so on a terminal."""
    print_status(
        f"Training {method.name} on {len(dataset):,} graph{'' if len(dataset) == 1 else 's'}"
    )
    method.fit(model, dataset.graphs, task=options.task, return_type=options.return_type)
