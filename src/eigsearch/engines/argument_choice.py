"""Chooses the optional arguments that a model is called with."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from eigsearch._utils.tolerances import ENGINES, outputs_close
from eigsearch.engines.batched.disjoint_union import full_graph
from eigsearch.engines.batched.engine import BatchedEngine
from eigsearch.engines.batched.model_input import model_input
from eigsearch.engines.plain_values import has_plain_values, plain_forms
from eigsearch.inference.model_call import ModelCall
from eigsearch.inference.target import short_row
from eigsearch.inputs.computation_graph import WHOLE_GRAPH
from eigsearch.inputs.edge_groups import GroupSpec
from eigsearch.inputs.instance import Instance, PreparedInstance
from eigsearch.tasks import TaskLevel


def choose_arguments(
    model_call: ModelCall, level: TaskLevel, instance: Instance, groups: GroupSpec
) -> tuple[ModelCall, str]:
    """Return how to call the model, and a note if optional arguments matter.

    A graph may have attributes that the model accepts as optional arguments, but that the user's
    own calls do not pass. They are passed, unless the model fails with them or they have a row for
    each link that the graph lists. If they change the output, the note shows both values.
    """
    if not isinstance(instance.data, Data | HeteroData):
        return model_call, ""
    if level.model_inputs:
        return _choose_of_links(model_call.with_link(instance.data), level, instance, groups)
    return _choose(model_call, level, instance, groups)


def _choose_of_links(
    model_call: ModelCall, level: TaskLevel, instance: Instance, groups: GroupSpec
) -> tuple[ModelCall, str]:
    """Leave out arguments with a row for each listed link, and choose among the rest."""
    of_links = set(model_call.of_links(instance.data))
    names = [n for n in model_call.optional_arguments(instance.data) if n in of_links]
    if not names:
        return _choose(model_call, level, instance, groups)
    model_call, note = _choose(model_call.leaving_out(names), level, instance, groups)
    listed = ", ".join(f"`{name}`" for name in names)
    return model_call, (
        f"Left out {listed}, with a row for each link that the graph lists. {note}".strip()
    )


def _choose(
    model_call: ModelCall, level: TaskLevel, instance: Instance, groups: GroupSpec
) -> tuple[ModelCall, str]:
    if not model_call.optional_arguments(instance.data):
        return model_call, ""
    (prepared,) = level.prepare([instance], groups, WHOLE_GRAPH)
    if prepared.schema is None and has_plain_values(prepared.data, model_call):
        forms = plain_forms([prepared], BatchedEngine(model_call)).levels
        prepared.levels.update({name: (form, 0) for name, form in forms.items()})
    with torch.inference_mode():
        return _compare(model_call, prepared)


def _compare(model_call: ModelCall, instance: PreparedInstance) -> tuple[ModelCall, str]:
    names = model_call.optional_arguments(instance.readable)
    listed = ", ".join(f"`{name}`" for name in names)
    without = model_call.leaving_out(names)
    try:
        passed = _first_row(model_call, instance)
    except Exception as error:
        try:
            _first_row(without, instance)
        except Exception:
            raise error from None
        reason = " ".join(str(error).split())[:120]
        return without, f"Left out {listed}, with which the model fails ({reason})."
    try:
        left_out = _first_row(without, instance)
    except Exception:
        return model_call, ""
    if passed.shape == left_out.shape and outputs_close(passed, left_out, ENGINES):
        return model_call, ""
    return model_call, (
        f"The graph's {listed} changes the output: {short_row(passed.tolist())} with, "
        f"{short_row(left_out.tolist())} without. The model is called as "
        f"{model_call.called_as(instance.readable)}; pass arguments= to choose."
    )


def _first_row(model_call: ModelCall, instance: PreparedInstance) -> Tensor:
    given = model_input([full_graph(instance)], model_call.needs)
    output = model_call.without_traces(given.batch)
    rows = output.reshape(1, -1) if output.dim() < 2 else output
    anchor = int(given.anchors[0]) if given.anchors.numel() == 1 else 0
    return rows[anchor if rows.size(0) > anchor else 0].detach()
