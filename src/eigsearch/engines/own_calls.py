"""The model's own calls on graphs, which every explained value is held against.

A call for each graph of a data set takes as long as explaining it. So the graphs of a window are
evaluated in two companies, and the smallest of them has a call of its own: a model under which
graphs disturb one another gives each of them something else in another company.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from eigsearch._utils.tolerances import ENGINES, outputs_close
from eigsearch.engines.batched.engine import BatchedEngine
from eigsearch.engines.request import Request
from eigsearch.errors import MemoryBudgetError
from eigsearch.inference.model_call import ModelCall
from eigsearch.inference.target import short_row
from eigsearch.inputs.instance import PreparedInstance


def own_rows(engine: BatchedEngine, full: Sequence[Request], companies: int = 1) -> Tensor | None:
    """Return the rows of whole graphs, the smallest alone and the others in shared calls.

    None where the model fails on several graphs at a time.

    Args:
        engine: What calls the model.
        full: The graphs.
        companies: Among how many calls the others are shared out, at least.
    """
    smallest = min(range(len(full)), key=lambda number: full[number].instance.num_nodes)
    others = [number for number in range(len(full)) if number != smallest]
    shares = [others[start::companies] for start in range(companies)]
    rows: dict[int, Tensor] = {}
    try:
        for numbers in filter(None, ([smallest], *shares)):
            outputs = engine.outputs([full[number] for number in numbers])
            rows.update(zip(numbers, outputs, strict=True))
    except MemoryBudgetError:
        raise
    except Exception:  # a model for one graph at a time
        return None
    return torch.cat([rows[number] for number in range(len(full))])


def note_on_own_call(model_call: ModelCall, instance: PreparedInstance, row: Tensor) -> str:
    """Return a sentence where the user's graph gives something else outside of a batch; else "".

    Args:
        model_call: How the model is called.
        instance: The prediction.
        row: What the graph gives for it as a batch of one.
    """
    if model_call.custom or len(instance.anchors) > 1 or (instance.schema and instance.anchors):
        return ""
    try:
        with torch.inference_mode():
            output = model_call.without_traces(instance.source.clone())
    except Exception:  # a model that takes nothing but batches
        return ""
    node = instance.source_node
    if node is not None and output.dim() and output.size(0) > node:
        output = output[node]
    if output.numel() != row.numel() or outputs_close(row, output.reshape(row.shape), ENGINES):
        return ""
    return (
        f"Without `batch`, the model gives {short_row(output.flatten().tolist())} for a graph for "
        f"which it gives {short_row(row.flatten().tolist())} as a batch of one; the latter is "
        "explained."
    )
