"""One run of a model: its own forward on the states of all candidates."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Batch

from eigsearch.engines.incremental.context import EvalContext
from eigsearch.engines.incremental.errors import NotServed
from eigsearch.engines.incremental.functions.alignment import whole
from eigsearch.engines.incremental.functions.dispatch import Lifting
from eigsearch.engines.incremental.pooling import explained_rows
from eigsearch.engines.incremental.state_tensor import IndexTensor, Run, StateTensor
from eigsearch.engines.incremental.typed_inputs import typed_batch
from eigsearch.errors import EigsearchError
from eigsearch.inference.model_call import ModelCall
from eigsearch.inputs.instance import level_in
from eigsearch.inputs.plain_values import NUMBERS, collated
from eigsearch.tasks import level_of


def run_model(model_call: ModelCall, context: EvalContext) -> Tensor:
    """Return the model's output for each candidate, in the order of the chunks.

    Raises:
        NotServed: If the model does something that is not supported, or fails on states; it may
            still work on the graphs that they stand for.
    """
    if model_call.takes_gradients:
        raise NotServed("The model computes gradients in its forward.")
    if model_call.draws_numbers:
        raise NotServed("The model draws random numbers.")
    run = Run(context)
    try:
        with model_call.restored(), torch.inference_mode():
            batch = _inputs(run, model_call)
            with Lifting(run):
                output = model_call(batch)
            if run.refused:  # and the model caught the exception
                raise NotServed(run.refused)
            return _result(run, output)
    except EigsearchError:
        raise
    except Exception as error:
        raise NotServed(
            f"The model fails on the tensors of the incremental engine ({type(error).__name__}: "
            f"{error})."
        ) from error


class _Arguments(dict[str, Any]):
    """A stand-in for `Batch`, which is slow to build, for models that take attributes."""

    def __setattr__(self, name: str, value: Any) -> None:
        self[name.removeprefix("_")] = value

    @property
    def num_graphs(self) -> int:
        """The number of candidates."""
        return int(self["num_graphs"])


def _inputs(run: Run, model_call: ModelCall) -> Any:
    """Return the graphs of all candidates as one batch of state tensors."""
    context = run.context
    first = context.instances[0]
    inputs = level_of(first.anchors).model_inputs
    if context.types is not None:
        return typed_batch(run, lambda key: key not in inputs and model_call.needs(key), inputs)
    batch = Batch(_base_cls=type(first.data)) if model_call.takes_object else _Arguments()
    batch.edge_index = run.index("edge_index", context.timelines.edges)
    batch.batch = run.index("batch")
    batch.num_nodes = run.num_nodes()
    batch._num_graphs = context.num_candidates
    for name in filter(model_call.needs, first.attributes):
        if name not in inputs:
            batch[name] = _attribute(run, name)
    for name in inputs:
        batch[name] = run.links()
    if model_call.needs("ptr"):
        batch.ptr = run.index("ptr")
    return batch


def _attribute(run: Run, name: str) -> Any:
    """Return an attribute of nodes, of edges, of each candidate, or of the call."""
    context = run.context
    level, dim = level_in(context.instances, name)
    if level == "call":
        return copy.deepcopy(context.instances[0].data[name])
    if level == "graph":
        return _per_candidate(context, name)
    if dim != 0:
        raise NotServed(
            f"The first dimension of the attribute `{name}` is not that of nodes or edges."
        )
    value = torch.cat([instance.data[name] for instance in context.instances])
    return run.state(*(context.nodes_like if level == "node" else context.edges_like)(value))


def _per_candidate(context: EvalContext, name: str) -> Any:
    parts: list[Any] = []
    chunks = context.timelines.chunks
    if not isinstance(context.instances[0].data[name], (Tensor, *NUMBERS)):
        return collated([c.request.instance.data[name] for c in chunks for _ in range(len(c))])
    for chunk in chunks:
        value = torch.as_tensor(chunk.request.instance.data[name], device=context.device)
        if value.dim() and value.size(0) != 1:
            raise NotServed(f"The attribute `{name}` does not have one row for each graph.")
        parts.append(value.repeat(len(chunk), *[1] * (value.dim() - 1)))
    return torch.cat(parts)


def _result(run: Run, output: Any) -> Tensor:
    """Return one row for each candidate."""
    context = run.context
    subject = level_of(context.instances[0].anchors).name
    by_node = isinstance(output, StateTensor)
    if by_node is not (subject == "node") or isinstance(output, IndexTensor):
        raise NotServed(f"The model's output does not have one row for each {subject}.")
    if not by_node:
        return _candidate_rows(output, context.num_candidates, subject)
    state = whole(run, output)
    rows = explained_rows(context, state.entries, state.value)
    return rows[:, None] if rows.dim() == 1 else rows


def _candidate_rows(output: Tensor, candidates: int, subject: str) -> Tensor:
    if candidates == 1 and output.dim() < 2:  # many models squeeze the row of a single graph
        return output.reshape(1, -1)
    rows = output[:, None] if output.dim() == 1 else output
    if rows.dim() != 2 or rows.size(0) != candidates:
        raise NotServed(f"The model's output does not have one row for each {subject}.")
    return rows
