"""Adapter for captum: class scores as a function of features, each ReLU a module."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from eigsearch.errors import UnsupportedError
from eigsearch.explainers.common.differentiable import DifferentiablePrediction

_RELUS = {torch.relu, torch.relu_, nn.functional.relu, Tensor.relu, Tensor.relu_}


class CaptumAdapter(nn.Module):
    """A prediction as a network from features `[B, N, F]` to class scores `[B]`.

    Captum's rules act on `nn.ReLU` modules that run once. Most graph networks call a function, or
    one module several times: here each use of a ReLU, however it is written, is a module of its
    own. The B inputs are copies of the graph in one call, one after the other along the nodes, as
    captum lays out inputs and baselines.
    """

    def __init__(self, prediction: DifferentiablePrediction) -> None:
        super().__init__()
        if not prediction.takes_copies:
            raise UnsupportedError(
                "Expected a model that takes a `batch` of several graphs (got "
                f"{type(prediction.model).__name__}, which takes one). Choose another method."
            )
        self.model = prediction.model
        self.relus = nn.ModuleList()
        self._prediction = prediction
        if isinstance(self.model, nn.Module):
            _make_relus_functions(self.model)
        with torch.no_grad():
            self(prediction.features()[None])  # adds the modules that captum will look for

    def forward(self, x: Tensor) -> Tensor:
        """Return the class score for each of B sets of node features."""
        with _ReluRouter(self.relus):
            return self._prediction.scores(x=x.flatten(0, 1), copies=x.size(0))


class _ReluRouter(TorchFunctionMode):
    """Sends the i-th use of a ReLU through the i-th module of a list, which grows as needed."""

    def __init__(self, relus: nn.ModuleList) -> None:
        super().__init__()
        self._relus = relus
        self._used = 0

    def __torch_function__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        if func not in _RELUS:
            return func(*args, **(kwargs or {}))
        if self._used == len(self._relus):
            self._relus.append(nn.ReLU())
        self._used += 1
        return self._relus[self._used - 1](args[0] if args else (kwargs or {})["input"])


class _ReLU(nn.Module):
    """A ReLU that captum does not know by its type, and that `_ReluRouter` therefore sees alone."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(x)


def _make_relus_functions(model: nn.Module) -> None:
    for module in list(model.modules()):
        for name, child in module.named_children():
            if type(child) is nn.ReLU:
                setattr(module, name, _ReLU())
