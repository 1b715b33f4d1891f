"""DEGREE: decomposes a prediction into what a group of nodes brings and what the rest does."""

from __future__ import annotations

from typing import Any, ClassVar

import networkx as nx
import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from eigsearch.errors import UnsupportedError
from eigsearch.explainers.base import Card, Method, ScoreType
from eigsearch.explainers.common.differentiable import DifferentiablePrediction
from eigsearch.explainers.common.node_masks import evaluate_node_masks, require_features
from eigsearch.explainers.decomposition.degree.decomposition import Pair
from eigsearch.explainers.decomposition.operations import NoRule
from eigsearch.explainers.games.coalitions import undirected_graph


class DEGREE(Method):
    """Scores nodes by the contextual decomposition of the class score.

    The score of a group is γ of the class's logit when γ starts as the features of the group and β
    as those of all other nodes. A subgraph grows from the two best single nodes by the neighbour
    with which it scores best; the first `size` nodes rank in the order in which they enter, all
    others after them by their own score. All groups of a step share their passes.
    """

    card: ClassVar[Card] = Card(
        name="DEGREE",
        level="node",
        citation="Feng et al., DEGREE: Decomposition Based Explanation for GNNs, ICLR 2022",
        score_type=ScoreType.RANK,
        faithful_to="the paper",
        cost="one decomposed pass per node and growth step",
        deviations=("the shift of a batch normalisation counts once, not twice",),
        needs=("known layers", "node features"),
        color="green",
        dash="dashed",
    )

    def __init__(self, size: int = 20) -> None:
        self.size = size

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return scores that fall from the first node of the grown subgraph to the last node."""
        require_features(data, self.name)
        with evaluate_node_masks(model, data, target, node) as evaluator, torch.inference_mode():
            prediction = DifferentiablePrediction(
                model, evaluator.data, target, evaluator.instance.node
            )
            order = self._order(prediction)
            score = torch.empty(evaluator.count)
            score[order] = torch.arange(evaluator.count, 0, -1, dtype=torch.float)
            return evaluator.scatter_node_scores(score)

    def _order(self, prediction: DifferentiablePrediction) -> list[int]:
        """Return the nodes by when they enter the subgraph, then by their own score."""
        graph = undirected_graph(prediction.data)
        single = group_scores(prediction, torch.eye(len(graph), dtype=torch.bool))
        alone = single.argsort(descending=True, stable=True).tolist()
        chosen = alone[:2]
        while len(chosen) < min(self.size, len(graph)):
            chosen.append(self._best_addition(prediction, graph, chosen))
        return chosen + [v for v in alone if v not in set(chosen)]

    def _best_addition(
        self, prediction: DifferentiablePrediction, graph: nx.Graph, chosen: list[int]
    ) -> int:
        """Return the node that makes the best union; without neighbours left, any node may."""
        boundary = {other for v in chosen for other in graph[v]} - set(chosen)
        options = sorted(boundary or set(graph) - set(chosen))
        rows = torch.zeros(len(options), len(graph), dtype=torch.bool)
        rows[:, chosen] = True
        rows[torch.arange(len(options)), options] = True
        return options[int(group_scores(prediction, rows).argmax())]


def group_scores(prediction: DifferentiablePrediction, rows: Tensor) -> Tensor:
    """Return γ of the class score for each group of nodes, given as keep-rows."""
    x = prediction.features().detach()
    parts = rows.split(prediction.copies_per_call)
    return torch.cat([_decompose(prediction, x, part) for part in parts]).cpu()


def _decompose(prediction: DifferentiablePrediction, x: Tensor, rows: Tensor) -> Tensor:
    lit = rows.to(x.device).flatten().to(x.dtype).view(-1, *[1] * (x.dim() - 1))
    x = x.repeat(len(rows), *[1] * (x.dim() - 1))
    with _LayerTracker(prediction.model) as tracker:
        try:
            score = prediction.scores(Pair.of(x * lit, x * (1 - lit)), copies=len(rows))
        except NoRule as missing:
            raise UnsupportedError(
                "Expected a model of layers that DEGREE can decompose (got "
                f"`{missing}` in {tracker.layer}). Choose a method that asks for predictions only."
            ) from missing
    if not isinstance(score, Pair):
        raise UnsupportedError(
            "Expected the class score to depend on node features (got one that does not). "
            "Choose a method that removes edges."
        )
    return score.gamma


class _LayerTracker:
    """Tracks the layer that is running, by hooks on the private copy."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._running: list[str] = []
        self._handles: list[Any] = []

    @property
    def layer(self) -> str:
        """The innermost layer that has been entered and not left."""
        return self._running[-1] if self._running else "the model"

    def __enter__(self) -> _LayerTracker:
        modules = self._model.named_modules() if isinstance(self._model, nn.Module) else ()
        for path, module in modules:
            label = f"{type(module).__name__} `{path}`" if path else type(module).__name__
            enter = module.register_forward_pre_hook(self._enter(label))
            leave = module.register_forward_hook(lambda *_: self._running.pop() and None)
            self._handles += [enter, leave]
        return self

    def _enter(self, label: str) -> Any:
        return lambda *_: self._running.append(label)

    def __exit__(self, *_: Any) -> None:
        for handle in self._handles:
            handle.remove()
