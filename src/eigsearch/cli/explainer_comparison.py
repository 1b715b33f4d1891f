"""Several explainers on the same predictions: what each of them found, or why it could not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from torch_geometric.data import Data

from eigsearch import store
from eigsearch.cli.explain_run import Assignment, carry_out
from eigsearch.cli.explainer_args import make_ranker
from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.parallel.worker import reason_of

_EVERY = 10**9  # failures that are allowed: what an explainer cannot serve is no error of the run


def contest(
    names: Iterable[str], work: Assignment, seed: int, directory: Path
) -> dict[str, dict[str, Any]]:
    """Return the means of each explainer, with the first reason of its failures as `error`."""
    return {name: _attempt(name, work, seed, directory / name) for name in names}


def in_common(
    names: Iterable[str], directory: Path, graphs: Sequence[Data]
) -> dict[str, SubgraphExplanation]:
    """Return how explainers explain one prediction: the first of those that most of them do."""
    explained = {name: _explained(directory / name) for name in names}
    counts = Counter(subject for subjects in explained.values() for subject in subjects)
    if not counts:
        return {}
    chosen = max(counts, key=lambda subject: counts[subject])
    places = {
        name: subjects.index(chosen) for name, subjects in explained.items() if chosen in subjects
    }
    return {name: _nth(directory / name, graphs, place) for name, place in places.items()}


def _attempt(name: str, work: Assignment, seed: int, path: Path) -> dict[str, Any]:
    """Return what one explainer found; whatever ends it, the others go on."""
    try:
        options = replace(work.options, ranker=make_ranker(name, seed))
        own = replace(work, options=options)
        found = carry_out(own, path, seed=seed, max_failures=_EVERY)
    except Exception as error:
        return {**_so_far(path, len(work.selection)), "error": reason_of(error)}
    reasons = store.ResultDirectory(path).failures()
    return {**found, "error": reasons[0] if reasons else None}


def _so_far(path: Path, count: int) -> dict[str, Any]:
    """Return the means of a run that ended early, in which what it did not reach has failed."""
    found = store.summarize(path)
    return {**found, "rows": count, "failures": count - (found["rows"] - found["failures"])}


def _explained(path: Path) -> list[tuple[int, int | None]]:
    """Return the graph and the node of each explanation, in order."""
    rows = store.rows(path, ["index", "node", "error"])
    return [(row["index"], row["node"]) for row in rows if row["error"] is None]


def _nth(path: Path, graphs: Sequence[Data], place: int) -> SubgraphExplanation:
    return next(islice(store.read(path, graphs), place, None))
