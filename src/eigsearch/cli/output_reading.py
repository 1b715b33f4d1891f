"""How the model of a command is called and its output read, decided before the run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from eigsearch.cli.explain_run import ExplainRun
from eigsearch.errors import AmbiguousOutputError
from eigsearch.inference.eval_mode import eval_mode
from eigsearch.inputs.instance import Instance
from eigsearch.pipeline import Pipeline

_LOOKED_AT = 32  # predictions that decide, for all shards of a run alike


def settle_reading(run: ExplainRun) -> tuple[ExplainRun, str]:
    """Return the run with its task and return type decided, and a line that says so.

    The line is empty where the first predictions fail: the rows will say why.

    Raises:
        AmbiguousOutputError: If the outputs allow two readings.
    """
    pipeline = Pipeline(run.model, run.options)
    try:
        instances = list(islice(_instances(run), _LOOKED_AT))
        with eval_mode(run.model):
            prepared = pipeline.predict(instances)
    except AmbiguousOutputError:
        raise
    except Exception:
        return run, ""
    read = pipeline.output_type
    options = replace(run.options, task=read.task, return_type=read.return_type)
    called = pipeline.model_call.called_as(prepared[0].data)
    return replace(run, options=options), f"Called as {called}; read as {read}."


def _instances(run: ExplainRun) -> Iterator[Instance]:
    for node in run.selection.node or ():
        yield Instance(run.data, run.target, node)
    for index in run.selection.index or ():
        yield Instance(run.dataset.graphs[index], run.target)
