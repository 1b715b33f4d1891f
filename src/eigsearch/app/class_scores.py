"""Read all class probabilities, or regressed values, from one plain call of a model."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Batch, HeteroData

from eigsearch.inference.eval_mode import eval_mode
from eigsearch.inference.link_input import LINK
from eigsearch.inference.model_call import Forward, ModelCall
from eigsearch.inputs.typed_graph import LinkName, NodeName


def class_scores(
    model: Any,
    data: Any,
    task: str,
    return_type: str,
    forward: Forward | None = None,
    node: NodeName | None = None,
    link: LinkName | None = None,
) -> list[float]:
    """Return a probability per class, or a value per regression output, in one model call.

    Args:
        model: The model.
        data: The graph.
        task: The task that an explanation resolved, in PyG's words.
        return_type: What the model returns: `"raw"`, `"log_probs"` or `"probs"`.
        forward: A callable `(model, batch) -> output` for unusual signatures.
        node: The node whose output row is read; None for a model of graphs or links.
        link: The link that the model is given to predict.
    """
    call = ModelCall(model, forward)
    batch = Batch.from_data_list([data])
    if link is not None:
        call = call.with_link(data)
        _set_link(batch, link)
    elif isinstance(node, tuple):
        batch.explained_type = node[0]
    with eval_mode(model), torch.no_grad():
        output = call(batch)
    row = output if node is None else output[node[1] if isinstance(node, tuple) else node]
    return to_scores(row.reshape(-1).double(), task, return_type).tolist()


def _set_link(batch: Any, link: LinkName) -> None:
    """Set the link to predict, in a typed graph also where PyG keeps it: by edge type."""
    ends = [end if isinstance(end, int) else end[1] for end in link]
    batch[LINK] = pair = torch.tensor(ends)[:, None]
    if not isinstance(batch, HeteroData):
        return
    types = tuple(end[0] for end in link if not isinstance(end, int))
    batch.explained_type = types[0]
    kinds = [kind for kind in batch.edge_types if (kind[0], kind[2]) == types]
    for kind in [kind for kind in kinds if LINK in batch[kind]] or kinds:
        batch[kind][LINK] = pair


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
