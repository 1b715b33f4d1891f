"""Read all class probabilities, or regressed values, from one plain call of a model."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from eigsearch.inference.eval_mode import eval_mode
from eigsearch.inference.model_call import Forward, ModelCall


def class_scores(
    model: Any,
    data: Data,
    node: int | None,
    task: str,
    return_type: str,
    forward: Forward | None = None,
) -> list[float]:
    """Return a probability per class, or a value per regression output, in one model call.

    Args:
        model: The model.
        data: The graph.
        node: The node whose output row is read; None for a graph-level model.
        task: The task that an explanation resolved, in PyG's words.
        return_type: What the model returns: `"raw"`, `"log_probs"` or `"probs"`.
        forward: A callable `(model, batch) -> output` for unusual signatures.
    """
    with eval_mode(model), torch.no_grad():
        output = ModelCall(model, forward)(Batch.from_data_list([data]))
    row = output[node] if node is not None else output.reshape(-1)
    return to_scores(row.reshape(-1).double(), task, return_type).tolist()


def to_scores(row: Tensor, task: str, return_type: str) -> Tensor:
    """Return an output row as probabilities, or as it is for a regression.

    A single binary output becomes the probabilities of both classes.
    """
    if task == "regression":
        return row
    if return_type == "log_probs":
        row = row.exp()
    elif return_type == "raw":
        row = row.softmax(0) if task == "multiclass_classification" else row.sigmoid()
    single = task == "binary_classification" and len(row) == 1
    return torch.cat([1 - row, row]) if single else row
