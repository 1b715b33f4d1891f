"""Decide how a model is called and its output read before a run is cut into shards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain, islice
from typing import Any

from eigsearch.engines.predictor import Predictor
from eigsearch.errors import AmbiguousOutputError
from eigsearch.inference.eval_mode import eval_mode
from eigsearch.inference.output_type import note_on_one_output
from eigsearch.inputs.instance import Instance
from eigsearch.options import Options
from eigsearch.parallel.sharding import Plan
from eigsearch.parallel.worker import ExplainJob
from eigsearch.pipeline import WINDOW


def settle_reading(
    model: Any, options: Options, instances: Iterable[Instance]
) -> tuple[Options, str]:
    """Return the options with task and return type decided, and a line that says so.

    The first predictions decide, as many as one process would look at. The line is empty where
    these fail: the rows will say why.

    Raises:
        AmbiguousOutputError: If the outputs allow two readings.
    """
    predictor = Predictor(model, options)
    try:
        first = list(islice(instances, WINDOW))
        with eval_mode(model):
            predicted = predictor.predict(first)
    except AmbiguousOutputError:
        raise
    except Exception:
        return options, ""
    read = predictor.output_type
    called = predictor.model_call.called_as(predicted[0].readable)
    # each shard infers this from the task level itself, and adds the note
    task = options.task if note_on_one_output(read) else read.task
    settled = replace(options, task=task, return_type=read.return_type)
    return settled, f"Called as {called}; read as {read}."


def with_reading(job: ExplainJob, plan: Plan) -> ExplainJob:
    """Return a job whose shards read outputs alike, as one process would read them.

    Raises:
        AmbiguousOutputError: If the outputs allow two readings.
    """
    options = job.options
    if options.task not in ("auto", "classification") and options.return_type != "auto":
        return job
    worker = replace(job, device=None).open()
    instances = chain.from_iterable(map(worker.instances, plan.shards()))
    return replace(job, options=settle_reading(job.model, options, instances)[0])
