"""Explain into a directory for a command, and summarize the rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eigsearch import store
from eigsearch.cli.explainer_args import train_ranker
from eigsearch.cli.flip_run import flip_findings
from eigsearch.cli.ground_truth_summary import ground_truth_means
from eigsearch.cli.progress import progress_bar
from eigsearch.cli.selection import Selection
from eigsearch.counterfactual.options import FlipOptions
from eigsearch.datasets import GraphDataset
from eigsearch.explainers import Method
from eigsearch.options import Options
from eigsearch.parallel import Source, explain_to
from eigsearch.visualization import Names


@dataclass(frozen=True)
class ExplainRun:
    """The data, the model and the options of a run."""

    dataset: GraphDataset
    model: Any
    options: Options
    selection: Selection
    target: int | None = None
    about: dict[str, Any] = field(default_factory=dict)
    flip: FlipOptions | None = None

    @property
    def data(self) -> Any:
        """The graphs, a source of them, or the one graph of a node or link set."""
        graphs = self.dataset.graphs
        is_single = self.selection.of_one_graph and not isinstance(graphs, Source)
        return graphs[0] if is_single else graphs


def execute(run: ExplainRun, path: Path, **where: Any) -> dict[str, Any]:
    """Explain into a directory, after training the ranker; return the means of the rows."""
    with progress_bar(run.dataset.name) as show:
        explain_to(
            path,
            run.model,
            run.data,
            index=run.selection.index,
            node=run.selection.node,
            link=run.selection.link,
            target=run.target,
            options=run.options,
            about={"dataset": run.dataset.name, **run.about},
            names=Names.of(run.dataset).to_lists(),
            progress=show,
            train=_training(run),
            flip=run.flip,
            **where,
        )
    if run.flip is not None:
        return flip_findings(path, run.dataset)
    return summarize_run(path, run.dataset)


def _training(run: ExplainRun) -> Callable[[], None] | None:
    """Return a function that trains the ranker of a run, None if it needs no training."""
    method = run.options.ranker
    if not isinstance(method, Method) or not method.card.trains:
        return None
    return lambda: train_ranker(method, run.model, run.dataset, run.options)


def summarize_run(path: Path, dataset: GraphDataset) -> dict[str, Any]:
    """Return the means of a run, with ground truth metrics where it is known."""
    return {**store.summarize(path), **ground_truth_means(store.read(path, dataset.graphs))}
