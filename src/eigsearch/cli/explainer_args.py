"""The explainers that a user named, trained where they have anything to train."""

from __future__ import annotations

from typing import Any

from eigsearch import explainers
from eigsearch._utils.name_lookup import resolve
from eigsearch.cli.console import announce
from eigsearch.datasets import GraphDataset
from eigsearch.explainers import Method
from eigsearch.options import Options

OURS = "eig_search"


def pick_explainers(text: str) -> list[str]:
    """Return the names in a list with commas, each once; `all` means every one."""
    known = explainers.names()
    if text == "all":
        return list(known)
    return list(dict.fromkeys(resolve("explainer", name, known) for name in text.split(",")))


def make_ranker(name: str, seed: int) -> Method | None:
    """Return what ranks the edges, not yet trained; None is EiG-Search's own linear gradients."""
    key = resolve("explainer", name, explainers.names())
    if key == OURS:
        return None
    method = explainers.get(key)
    return explainers.get(key, seed=seed) if method.card.seeded else method


def train_ranker(method: Method, model: Any, dataset: GraphDataset, options: Options) -> None:
    """Train an explainer on the model's predictions, and say so on a terminal."""
    announce(f"Training {method.name} on {len(dataset):,} graph{'' if len(dataset) == 1 else 's'}")
    method.fit(model, dataset.graphs, task=options.task, return_type=options.return_type)
