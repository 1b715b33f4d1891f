"""RelEx: a small graph network fitted around one node, and an edge mask learned on it."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, logsigmoid
from torch_geometric.data import Data
from torch_geometric.utils import degree

from eigsearch.candidates import SubgraphKind
from eigsearch.explainers.base import Card, Method, ScoreType, seeded
from eigsearch.explainers.common.class_probabilities import require_classifier
from eigsearch.explainers.common.differentiable import gradients
from eigsearch.explainers.common.node_masks import NodeMaskEvaluator, evaluate_node_masks
from eigsearch.explainers.surrogate.node_predictions import require_node
from eigsearch.inputs.instance import PreparedInstance

_WIDTH = 32
_LR = 1e-2
_FOLLOW = 0.3  # least probability of following an edge; drawn up to 1 for each sample
_MESSAGES = 1 << 19  # that one step of the surrogate may pass


class RelEx(Method):
    """Scores an edge by a mask that keeps the class on a surrogate of the model around a node.

    A sample is the subgraph that a breadth-first search from the node finds when it follows each
    edge with a probability drawn from U(0.3, 1). The model is asked only for the probability
    of the class on `samples` of these. A residual GCN of `layers` layers and width 32 learns to
    predict it in `steps` steps; then a sigmoid mask on edges minimises −log p of the surrogate
    plus `size_weight` times its sum, again in `steps` steps.

    No code of the authors is public: the procedure is the paper's, the numbers are our choice.
    `surrogate` returns the fitted network, whose `r_squared` says what an explanation is worth.
    """

    card: ClassVar[Card] = Card(
        name="RelEx",
        level="edge",
        citation="Zhang, Defazio and Ramesh, RelEx, AIES 2021",
        score_type=ScoreType.PROBABILITY,
        faithful_to="the paper's procedure",
        cost="`samples` predictions and 2 · `steps` steps of a small network",
        deviations=(
            "follow probability, surrogate, sizes and learning rates are our choice",
            "the sigmoid mask alone, not the variant with a Gumbel softmax",
        ),
        tasks=("node",),
        seeded=True,
        color="sky",
        dash="dashdotdot",
    )
    cheap_options = MappingProxyType({"samples": 10, "steps": 2})

    def __init__(
        self,
        samples: int = 1000,
        layers: int = 3,
        steps: int = 300,
        size_weight: float = 0.01,
        seed: int = 0,
    ) -> None:
        self.samples = samples
        self.layers = layers
        self.steps = steps
        self.size_weight = size_weight
        self.seed = seed

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return the mask of each edge, the lowest one for edges that the model does not see."""
        explained = require_node(node, self.name)
        with evaluate_node_masks(model, data, target, explained) as evaluator:
            groups = evaluator.instance.groups
            if groups.count == 0:
                return torch.zeros(data.num_edges)
            with gradients(), seeded(self.seed):
                surrogate = self._fitted(evaluator)
                mask = learn_mask(surrogate, self.steps, self.size_weight)
        return evaluator.scatter_edge_scores(mask[groups.index.cpu()])

    def surrogate(self, model: Any, data: Data, target: int, node: int) -> Surrogate:
        """Return the network that stands in for the model around a node."""
        with (
            evaluate_node_masks(model, data, target, node) as evaluator,
            gradients(),
            seeded(self.seed),
        ):
            return self._fitted(evaluator)

    def _fitted(self, evaluator: NodeMaskEvaluator) -> Surrogate:
        require_classifier(evaluator.instance.target, self.name)
        rows = sample_rows(evaluator.instance, self.samples)
        value = evaluator.values(rows, SubgraphKind.ALL_NODES).float()
        surrogate = Surrogate(evaluator.instance, self.layers)
        surrogate.imitate(rows, value, self.steps)
        return surrogate


def sample_rows(instance: PreparedInstance, samples: int) -> Tensor:
    """Return the groups that breadth-first searches from the explained node follow `[S, G]`.

    A search that follows each edge with one probability finds the component of the node in a
    graph that keeps each edge with this probability.
    """
    assert instance.node is not None
    follow = _FOLLOW + (1 - _FOLLOW) * torch.rand(samples, 1)
    keep = torch.rand(samples, instance.groups.count) < follow
    kept_edges = keep[:, instance.groups.index.cpu()]
    source, target = (ends.cpu() for ends in instance.data.edge_index)
    reached, before = torch.zeros(samples, instance.num_nodes, dtype=torch.bool), -1
    reached[:, instance.node] = True
    while (count := int(reached.sum())) != before:
        before = count
        for near, far in ((source, target), (target, source)):
            row, edge = (kept_edges & reached[:, near]).nonzero(as_tuple=True)
            reached[row, far[edge]] = True
    row, edge = (kept_edges & reached[:, source]).nonzero(as_tuple=True)
    rows = torch.zeros_like(keep)
    rows[row, instance.groups.index.cpu()[edge]] = True
    return rows


class Surrogate(nn.Module):
    """A residual GCN that reads the node's surroundings and returns the log-odds of the class.

    Attributes:
        r_squared: The share of the variance of the model's probabilities that it predicts.
    """

    def __init__(self, instance: PreparedInstance, layers: int) -> None:
        super().__init__()
        self.r_squared = float("nan")
        self._node = instance.node
        self._groups = instance.groups.index.cpu()
        self.count = instance.groups.count
        self._source, self._target = (ends.cpu() for ends in instance.data.edge_index)
        scale = 1 / (1 + degree(self._target, instance.num_nodes)).sqrt()
        self._scale = (scale[self._source] * scale[self._target])[:, None]
        self._x = _inputs(instance)
        self.embed = nn.Linear(self._x.size(1), _WIDTH)
        self.layers = nn.ModuleList(nn.Linear(_WIDTH, _WIDTH) for _ in range(layers))
        self.read = nn.Linear(_WIDTH, 1)

    def forward(self, keep: Tensor) -> Tensor:
        """Return the log-odds of the class for weights of groups `[B, G]`."""
        weight = keep[:, self._groups, None] * self._scale
        h = self.embed(self._x).relu().expand(len(keep), -1, -1)
        for layer in self.layers:
            messages = weight * h[:, self._source]
            h = h + layer(torch.zeros_like(h).index_add(1, self._target, messages)).relu()
        return self.read(h[:, self._node]).squeeze(1)

    def imitate(self, rows: Tensor, value: Tensor, steps: int) -> None:
        """Train on the probabilities of the class for keep-rows, by cross-entropy."""
        optimizer = torch.optim.Adam(self.parameters(), lr=_LR)
        batch = max(min(_MESSAGES // max(len(self._source), 1), 64, len(rows)), 1)
        for _ in range(steps):
            chosen = torch.randint(len(rows), (batch,))
            optimizer.zero_grad()
            logits = self(rows[chosen].float())
            binary_cross_entropy_with_logits(logits, value[chosen]).backward()
            optimizer.step()
        self.requires_grad_(False)
        predicted = torch.cat([self(part.float()).sigmoid() for part in rows.split(batch)])
        spread = (value - value.mean()).square().sum()
        error = (value - predicted).square().sum()
        self.r_squared = float(1 - error / spread) if float(spread) > 0 else float("nan")


def learn_mask(surrogate: Surrogate, steps: int, size_weight: float) -> Tensor:
    """Return the mask of groups that keeps the surrogate's class with few of them `[G]`."""
    logits = torch.zeros(1, surrogate.count, requires_grad=True)
    optimizer = torch.optim.Adam([logits], lr=_LR)
    for _ in range(steps):
        optimizer.zero_grad()
        mask = logits.sigmoid()
        (-logsigmoid(surrogate(mask)).sum() + size_weight * mask.sum()).backward()
        optimizer.step()
    return logits.detach().sigmoid()[0]


def _inputs(instance: PreparedInstance) -> Tensor:
    """Return standardised features of nodes, if they are real numbers, and a mark on the node."""
    mark = torch.zeros(instance.num_nodes, 1)
    mark[instance.node] = 1.0
    x = instance.data.get("x")
    if x is None or not x.is_floating_point():
        return mark
    x = x.detach().cpu().float().reshape(x.size(0), -1)
    deviation = x.std(dim=0, correction=0)
    return torch.cat([(x - x.mean(dim=0)) / deviation.where(deviation > 0, 1.0), mark], dim=1)
