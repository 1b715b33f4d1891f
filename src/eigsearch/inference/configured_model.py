"""A model together with the options for calling it and reading its output."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Batch

from eigsearch.inference.model_call import Forward, ModelCall


class ConfiguredModel(torch.nn.Module):
    """A model that takes a batch, with the options of a run that say how to call and read it.

    A ranker is given a model and a class, no options; where these matter, they travel with the
    model.
    """

    def __init__(self, model: Any, forward: Forward | None, task: str, return_type: str) -> None:
        super().__init__()
        self.model = model
        self.how = forward
        self.task = task
        self.return_type = return_type

    def forward(self, batch: Batch) -> Tensor:
        """Return the model's output for a batch."""
        return ModelCall(self.model, self.how)(batch)


def configure(model: Any, forward: Forward | None, task: str, return_type: str) -> Any:
    """Return the model for a ranker, wrapped only if options say how to call or read it."""
    how = (forward, task, return_type)
    return model if how == (None, "auto", "auto") else ConfiguredModel(model, *how)
