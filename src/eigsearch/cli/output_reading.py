"""Decide how the model of a command is called and its output read before the run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from eigsearch.cli.explain_run import ExplainRun
from eigsearch.inputs.instance import Instance
from eigsearch.parallel.output_reading import settle_reading


def settle_run(run: ExplainRun) -> tuple[ExplainRun, str]:
    """Return the run with its task and return type decided, and a line that says so.

    Raises:
        AmbiguousOutputError: If the outputs allow two readings.
    """
    options, line = settle_reading(run.model, run.options, _instances(run))
    return replace(run, options=options), line


def _instances(run: ExplainRun) -> Iterator[Instance]:
    for node in run.selection.node or ():
        yield Instance(run.data, run.target, node)
    for link in run.selection.link or ():
        yield Instance(run.data, run.target, link=link)
    for index in run.selection.index or ():
        yield Instance(run.dataset.graphs[index], run.target)
