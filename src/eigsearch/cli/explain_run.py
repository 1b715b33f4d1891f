"""A run as commands need it: explain into a directory, then read what it says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eigsearch import store
from eigsearch.cli.explainer_args import train_ranker
from eigsearch.cli.ground_truth_summary import recovery
from eigsearch.cli.number_ranges import parse_selection
from eigsearch.cli.progress import progress_bar
from eigsearch.datasets import GraphDataset
from eigsearch.errors import InputError
from eigsearch.explainers import Method
from eigsearch.options import Options
from eigsearch.parallel import Source, explain_to


@dataclass(frozen=True)
class Selection:
    """The graphs to explain by number, or the nodes of a node set."""

    index: Sequence[int] | None = None
    node: Sequence[int] | None = None

    def __len__(self) -> int:
        return len(self.index or self.node or ())


@dataclass(frozen=True)
class Assignment:
    """What is explained, and by whom."""

    dataset: GraphDataset
    model: Any
    options: Options
    selection: Selection
    target: int | None = None
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def data(self) -> Any:
        """What the library takes: the graphs, a source of them, or the one graph of a node set."""
        graphs = self.dataset.graphs
        alone = self.selection.node is not None and not isinstance(graphs, Source)
        return graphs[0] if alone else graphs


def chosen(dataset: GraphDataset, index: str | None, node: str | None) -> Selection:
    """Return the graphs or the nodes that a user chose."""
    if dataset.task == "node":
        if node is None or index is not None:
            raise InputError(
                f"Expected --node for {dataset.name}, whose nodes are explained (got "
                f"{'none' if node is None else '--index too'}). Pass nodes such as 17, 300:400, "
                "or : for all."
            )
        nodes = range(int(dataset[0].num_nodes))
        return Selection(node=parse_selection(node, nodes, "--node"))
    if node is not None:
        raise InputError(
            f"Expected --index for {dataset.name}, whose graphs are explained (got --node). "
            "Pass graphs such as 0:50."
        )
    every = ":" if index is None else index
    return Selection(index=parse_selection(every, range(len(dataset)), "--index"))


def carry_out(assignment: Assignment, path: Path, **where: Any) -> dict[str, Any]:
    """Explain into a directory, trained where need be; return the means of what was found."""
    work = assignment
    with progress_bar(work.dataset.name) as show:
        explain_to(
            path,
            work.model,
            work.data,
            index=work.selection.index,
            node=work.selection.node,
            target=work.target,
            options=work.options,
            about={"dataset": work.dataset.name, **work.about},
            names={
                "class_names": work.dataset.class_names,
                "node_names": work.dataset.node_names,
            },
            progress=show,
            train=_training(work),
            **where,
        )
    return findings(path, work.dataset)


def _training(work: Assignment) -> Callable[[], None] | None:
    """Return what trains the explainer of an assignment, None where there is nothing to train."""
    method = work.options.ranker
    if not isinstance(method, Method) or not method.card.trains:
        return None
    return lambda: train_ranker(method, work.model, work.dataset, work.options)


def findings(path: Path, dataset: GraphDataset) -> dict[str, Any]:
    """Return the means of a run, with the recovery of ground truth where that is known."""
    return {**store.summarize(path), **recovery(store.read(path, dataset.graphs))}
