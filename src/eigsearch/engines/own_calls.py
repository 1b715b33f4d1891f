"""Plain calls of the model, with which every explained value is compared.

One call for each graph of a data set would take as long as explaining it. So the graphs of a window
are evaluated in two different batches, and the smallest one also alone: if the graphs of a batch
influence one another, their outputs change with the batch.
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


def own_rows(engine: BatchedEngine, full: Sequence[Request], batches: int = 1) -> Tensor | None:
    """Return the output rows of whole graphs: the smallest alone, others batched.

    None if the model fails on several graphs at a time.

    Args:
        engine: The engine that calls the model.
        full: The requests for the graphs.
        batches: Into how many batches the other graphs are split, at least.
    """
    smallest = min(range(len(full)), key=lambda number: full[number].instance.num_nodes)
    others = [number for number in range(len(full)) if number != smallest]
    shares = [others[start::batches] for start in range(batches)]
    rows: dict[int, Tensor] = {}
    try:
        for numbers in filter(None, ([smallest], *shares)):
            outputs = engine.outputs([full[number] for number in numbers])
            rows.update(zip(numbers, outputs, strict=True))
    except MemoryBudgetError:
        raise
    except Exception:  # the model takes only one graph per call
        return None
    return torch.cat([rows[number] for number in range(len(full))])


def note_on_own_call(model_call: ModelCall, instance: PreparedInstance, row: Tensor) -> str:
    """Return a note if the model's output changes without `batch`; else "".

    Args:
        model_call: How the model is called.
        instance: The prediction.
        row: The model's output for it with the graph as a batch of one.
    """
    if model_call.custom or len(instance.anchors) > 1 or (instance.schema and instance.anchors):
        return ""
    try:
        with torch.inference_mode():
            output = model_call.without_traces(instance.source.clone())
    except Exception:  # the model only takes batches
        return ""
    for anchor in instance.source_anchors:  # for a node, its row of the output
        output = output[anchor] if output.dim() and output.size(0) > anchor else output
    if output.numel() != row.numel() or outputs_close(row, output.reshape(row.shape), ENGINES):
        return ""
    return (
        f"Without `batch`, the model gives {short_row(output.flatten().tolist())} for a graph for "
        f"which it gives {short_row(row.flatten().tolist())} as a batch of one; the latter is "
        "explained."
    )
