"""Explainers of the user: a function, an object with `rank`, PyG's algorithms, captum's methods."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from copy import deepcopy
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.explain import ExplainerAlgorithm

from eigsearch.errors import InputError
from eigsearch.explainers.base import EVERY_TASK, Card, Method, ScoreType, share_directions
from eigsearch.explainers.common.differentiable import DifferentiablePrediction, gradients
from eigsearch.explainers.common.pyg_adapter import PyGAdapter
from eigsearch.explainers.gradient.captum_adapter import CaptumAdapter

_ASK = (
    "Pass a function (model, data, target, node) -> scores, an object with `rank`, an algorithm of "
    "torch_geometric.explain, or a class of captum.attr."
)


class OwnExplainer(Method):
    """A function of the user as an explainer.

    It is called with as many of model, data, target and node as it takes, in this order, and
    returns a score for each edge; for each node if it has an attribute `level = "node"`. Both
    directions of an edge get the mean of their scores.
    """

    card: ClassVar[Card] = Card(
        name="own",
        level="edge",
        citation="the user's own",
        score_type=ScoreType.SIGNED,
        faithful_to="the user's code",
        cost="as the user's code",
    )

    def __init__(self, function: Callable[..., Any], name: str, level: str = "edge") -> None:
        self.function = function
        self._count = _positional(function)
        self.card = Card(  # type: ignore[misc]
            **{
                **vars(type(self).card),
                "name": name,
                "level": "node" if level == "node" else "edge",
            }
        )

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return the scores of the user's function."""
        scores = self.function(*(model, data, target, node)[: self._count])
        scores = torch.as_tensor(scores).detach().flatten()
        if self.level == "edge" and len(scores) == data.num_edges:
            return share_directions(scores, data)
        return scores


class OwnAlgorithm(Method):
    """An algorithm of `torch_geometric.explain` as an explainer: its edge mask are the scores."""

    card: ClassVar[Card] = Card(
        name="PyG algorithm",
        level="edge",
        citation="torch_geometric.explain",
        score_type=ScoreType.PROBABILITY,
        faithful_to="the algorithm's own code",
        cost="as the algorithm",
        tasks=EVERY_TASK,
        needs=("gradients",),
    )

    def __init__(self, algorithm: ExplainerAlgorithm, name: str) -> None:
        self.algorithm = algorithm
        self.card = Card(**{**vars(type(self).card), "name": name})  # type: ignore[misc]

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return the edge mask that the algorithm gives for this prediction."""
        with gradients():
            adapter = PyGAdapter(DifferentiablePrediction(model, data, target, node))
            algorithm = deepcopy(self.algorithm)  # it keeps masks and settings of a call
            algorithm.connect(*adapter.configs())
            found = algorithm(adapter, *adapter.inputs, target=adapter.target)
        mask = found.get("edge_mask")
        if mask is None:
            raise InputError(
                f"Expected {self.name} to return an `edge_mask` (got none). Choose an algorithm "
                "that scores edges, or pass a function that returns node scores."
            )
        return share_directions(mask.detach().flatten(), data)


class OwnCaptumMethod(Method):
    """A class of `captum.attr` as an explainer: attributions of features, summed for each node."""

    card: ClassVar[Card] = Card(
        name="captum method",
        level="node",
        citation="captum",
        score_type=ScoreType.SIGNED,
        faithful_to="captum's code",
        cost="as the method",
        tasks=EVERY_TASK,
        needs=("gradients", "node features", "captum"),
    )

    def __init__(self, kind: Callable[..., Any], name: str) -> None:
        self.kind = kind
        self.card = Card(**{**vars(type(self).card), "name": name})  # type: ignore[misc]

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return the attributions of each node's features, added up."""
        with gradients(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # captum announces its hooks, which are on a copy
            adapter = CaptumAdapter(DifferentiablePrediction(model, data, target, node))
            x = torch.as_tensor(data.x).detach().clone()[None].requires_grad_()
            return self.kind(adapter).attribute(x)[0].flatten(1).sum(dim=1).detach()


def as_method(value: Any, name: str | None = None) -> Method:
    """Return whatever a user brings as an explainer.

    Args:
        value: A function, an object or a class with `rank`, an algorithm of PyG, or a class of
            captum.
        name: What to call it; by default what it calls itself.

    Raises:
        InputError: If it is nothing that scores edges or nodes.
    """
    if isinstance(value, Method):
        return value
    own = name or str(getattr(value, "name", None) or _name(value))
    if isinstance(value, ExplainerAlgorithm):
        return OwnAlgorithm(value, own)
    if isinstance(value, type):
        if _is_captum(value):
            return OwnCaptumMethod(value, own)
        return as_method(value(), name)
    function = getattr(value, "rank", value)
    if not callable(function):
        raise InputError(f"Expected `ranker` to score edges (got {type(value).__name__}). {_ASK}")
    return OwnExplainer(function, own, getattr(value, "level", "edge"))


def _is_captum(kind: type) -> bool:
    return any(base.__module__.startswith("captum.") for base in kind.__mro__)


def _name(value: Any) -> str:
    return getattr(value, "__name__", type(value).__name__)


def _positional(function: Callable[..., Any]) -> int:
    """Return how many of model, data, target and node a function takes."""
    parameters = inspect.signature(function).parameters.values()
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return 4
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    count = sum(parameter.kind in positional for parameter in parameters)
    if not 2 <= count <= 4:
        raise InputError(
            "Expected an explainer to take (model, data), and perhaps target and node (got "
            f"{count} arguments). {_ASK}"
        )
    return count
