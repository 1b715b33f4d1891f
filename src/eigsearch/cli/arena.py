"""The explainers that a user named, trained where they have anything to train."""

from __future__ import annotations

from typing import Any

from eigsearch import explainers
from eigsearch.cli.printing import announce
from eigsearch.datasets import GraphDataset
from eigsearch.near import resolve
from eigsearch.ranking import Ranker

OURS = "eig_search"


def pick_explainers(text: str) -> list[str]:
    """Return the names in a list with commas, each once; `all` means every one."""
    known = explainers.names()
    if text == "all":
        return list(known)
    return list(dict.fromkeys(resolve("explainer", name, known) for name in text.split(",")))


def make_ranker(
    name: str,
    model: Any,
    dataset: GraphDataset,
    seed: int,
    task: str = "auto",
    return_type: str = "auto",
) -> Ranker | None:
    """Return what ranks the edges; None is EiG-Search's own linear gradients."""
    key = resolve("explainer", name, explainers.names())
    if key == OURS:
        return None
    method = explainers.get(key)
    if method.card.seeded:
        method = explainers.get(key, seed=seed)
    if method.card.trains:
        announce(f"Training {key} on {len(dataset):,} graph{'' if len(dataset) == 1 else 's'}")
    method.fit(model, dataset.graphs, task=task, return_type=return_type)
    return method
