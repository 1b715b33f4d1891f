"""Run several explainers on the same predictions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from torch_geometric.data import Data

from eigsearch import store
from eigsearch.cli.explain_run import ExplainRun, execute
from eigsearch.cli.explainer_args import make_ranker
from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.outcomes import reason_of

_UNLIMITED = 10**9  # failures: what an explainer cannot explain is no error of the comparison


def compare_explainers(
    names: Iterable[str], run: ExplainRun, seed: int, directory: Path
) -> dict[str, dict[str, Any]]:
    """Return the means of each explainer, with the first failure as `error`."""
    return {name: _attempt(name, run, seed, _folder(directory, name)) for name in names}


def shared_prediction(
    names: Iterable[str], directory: Path, graphs: Sequence[Data]
) -> dict[str, SubgraphExplanation]:
    """Return the explanations of the first prediction that most explainers explain."""
    explained = {name: _explained(_folder(directory, name)) for name in names}
    counts = Counter(key for keys in explained.values() for key in keys)
    if not counts:
        return {}
    chosen = max(counts, key=lambda key: counts[key])
    positions = {name: keys.index(chosen) for name, keys in explained.items() if chosen in keys}
    return {name: _nth(_folder(directory, name), graphs, nth) for name, nth in positions.items()}


def _folder(directory: Path, name: str) -> Path:
    """Return the directory of an explainer; the name of one in a file holds slashes."""
    return directory / name.replace("/", "_")


def _attempt(name: str, run: ExplainRun, seed: int, path: Path) -> dict[str, Any]:
    """Return the means of one explainer; whatever stops it, the others go on."""
    try:
        options = replace(run.options, ranker=make_ranker(name, seed))
        own_run = replace(run, options=options)
        found = execute(own_run, path, seed=seed, max_failures=_UNLIMITED)
    except Exception as error:
        return {**_so_far(path, len(run.selection)), "error": reason_of(error)}
    reasons = store.ResultDirectory(path).failures()
    return {**found, "error": reasons[0] if reasons else None}


def _so_far(path: Path, count: int) -> dict[str, Any]:
    """Return the means of a run that ended early, counting missing rows as failures."""
    if not store.ResultDirectory(path).manifest_path.exists():  # stopped before the first row
        return {"rows": count, "failures": count, **dict.fromkeys((*store.MEANS, "seconds"))}
    found = store.summarize(path)
    return {**found, "rows": count, "failures": count - (found["rows"] - found["failures"])}


def _explained(path: Path) -> list[tuple[int, int | None]]:
    """Return the graph and the node of each explanation, in order."""
    rows = store.rows(path, ["index", "node", "error"])
    return [(row["index"], row["node"]) for row in rows if row["error"] is None]


def _nth(path: Path, graphs: Sequence[Data], position: int) -> SubgraphExplanation:
    return next(islice(store.read(path, graphs), position, None))
