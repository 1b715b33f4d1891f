"""PGM-Explainer: random perturbations, and chi-square tests of what depends on them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import torch
from scipy.stats import chi2, chi2_contingency
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.errors import UnsupportedError
from eigsearch.explainers.base import Card, Method, ScoreType, check_choice
from eigsearch.explainers.common.differentiable import DifferentiablePrediction
from eigsearch.explainers.common.node_masks import evaluate_node_masks, require_features
from eigsearch.inference.target import Target

Perturb = Callable[[Tensor], Tensor]  # who is perturbed `[S, N]` in, features `[S, N, F]` out

_SHARE = 0.1  # of the nodes that a sample of a graph task perturbs
_TOP_SHARE = 8  # one sample in eight, those of the largest drop, count as changed
_DROP = 0.1  # how much probability a node has to lose to count as changed


class PGMExplainer(Method):
    """Scores nodes by how strongly a prediction's drop depends on their perturbation.

    The score is −log p of a chi-square test of independence. The published cut at p < 0.05 fixes a
    size; here a search over the ranking takes its place.

    Graph tasks: each sample sets the features of a tenth of the nodes to their mean (to zero where
    all nodes are alike, and their mean perturbs nothing); the eighth of the samples with the
    largest drop counts as changed. A first round over all nodes picks 4·`top` candidates, a second
    one that perturbs only these decides among them. Candidates rank above all other nodes.

    Node tasks: each sample scales the features of every second node by random factors from 0 to 2.
    The variable of a node says whether it was perturbed and whether its own prediction dropped by
    more than 0.1; it is tested against the variable of the explained node.

    `perturbation` replaces these by one of the variants that the authors state: features set to
    their mean or to zero, scaled, or drawn at random from the range of each.
    """

    card: ClassVar[Card] = Card(
        name="PGM-Explainer",
        level="node",
        citation="Vu and Thai, PGM-Explainer, NeurIPS 2020",
        score_type=ScoreType.P_VALUE,
        faithful_to="the authors' code, its faults corrected",
        cost="`samples` predictions for a node, twice as many for a graph",
        deviations=(
            "ranks all nodes instead of cutting at p < 0.05",
            "graph tasks: zero takes the place of the mean where all nodes have equal features",
        ),
        needs=("node features",),
        seeded=True,
        color="purple",
        dash="dashed",
    )
    cheap_options = MappingProxyType({"samples": 20})

    def __init__(
        self,
        samples: int = 1000,
        top: int = 5,
        seed: int = 0,
        perturbation: Literal["task", "mean", "zero", "scale", "random"] = "task",
    ) -> None:
        check_choice("perturbation", perturbation, ("task", "mean", "zero", "scale", "random"))
        self.perturbation = perturbation
        self.samples = samples
        self.top = top
        self.seed = seed

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return −log p for each node; candidates of the second round stand above the others."""
        _check_features(data, self.name)
        generator = torch.Generator().manual_seed(self.seed)
        with evaluate_node_masks(model, data, target, node) as evaluator, torch.inference_mode():
            prediction = DifferentiablePrediction(
                model, evaluator.data, target, evaluator.instance.node
            )
            scores = self._graph_scores if node is None else self._node_scores
            return evaluator.scatter_node_scores(scores(prediction, generator))

    def _perturb(
        self, prediction: DifferentiablePrediction, default: str, generator: torch.Generator
    ) -> Perturb:
        """Return how features are perturbed: as the task does by default, or as asked."""
        x = prediction.data.x
        kind = default if self.perturbation == "task" else self.perturbation
        if kind == "mean":
            return _to_mean(x)
        if kind == "zero":
            return lambda perturbed: torch.where(perturbed[..., None], 0.0, x)
        return _to_scaled(x, generator) if kind == "scale" else _to_random(x, generator)

    def _graph_scores(
        self, prediction: DifferentiablePrediction, generator: torch.Generator
    ) -> Tensor:
        everyone = torch.ones(_count(prediction), dtype=torch.bool)
        first = self._graph_round(prediction, everyone, generator)
        candidate = _largest(first, 4 * self.top)
        second = self._graph_round(prediction, candidate, generator)
        return torch.where(candidate, second + first.max(), first)

    def _graph_round(
        self, prediction: DifferentiablePrediction, may: Tensor, generator: torch.Generator
    ) -> Tensor:
        """Perturb some of the nodes that may be, and return the evidence that each matters."""
        drawn = torch.rand(self.samples, _count(prediction), generator=generator) < _SHARE
        perturbed = drawn & may
        outputs = _outputs(prediction, perturbed, self._perturb(prediction, "mean", generator))
        target = prediction.target
        value = target.value(target.phi(outputs))
        drop = target.change(value[0], value[1:])
        changed = _largest(drop, max(self.samples // _TOP_SHARE, 1))
        return evidence(perturbed.long(), changed.long())

    def _node_scores(
        self, prediction: DifferentiablePrediction, generator: torch.Generator
    ) -> Tensor:
        perturbed = torch.rand(self.samples, _count(prediction), generator=generator) < 0.5
        outputs = _outputs(prediction, perturbed, self._perturb(prediction, "scale", generator))
        target, explained = prediction.target, prediction.node
        assert explained is not None
        value = _own_class(target, outputs, explained)
        dropped = target.change(value[0], value[1:]) > _DROP
        variable = 2 * perturbed.long() + dropped.long()
        return evidence(variable, variable[:, explained])


def evidence(variables: Tensor, outcome: Tensor) -> Tensor:
    """Return −log p of the independence of each column from the outcome; 0 where nothing varies.

    Variables and outcome are small integers, `[S, N]` and `[S]`.
    """
    return torch.tensor([_minus_log_p(column, outcome) for column in variables.t()])


def _minus_log_p(first: Tensor, second: Tensor) -> float:
    width = int(second.max()) + 1
    table = torch.bincount(first * width + second, minlength=(int(first.max()) + 1) * width)
    table = table.view(-1, width)
    table = table[table.sum(dim=1) > 0][:, table.sum(dim=0) > 0]
    if min(table.shape) < 2:
        return 0.0
    test = chi2_contingency(table.numpy(), correction=False)
    exact = float(-chi2.logsf(test.statistic, test.dof))
    # Beyond what SciPy can tell from zero, the tail falls by half of the statistic.
    return exact if math.isfinite(exact) else float(test.statistic) / 2


def _largest(value: Tensor, count: int) -> Tensor:
    mask = torch.zeros(value.numel(), dtype=torch.bool)
    mask[value.argsort(descending=True, stable=True)[:count]] = True
    return mask


def _check_features(data: Data, name: str) -> None:
    require_features(data, name)
    if not data.x.is_floating_point():
        raise UnsupportedError(
            f"Expected node features to be numbers that {name} can average and scale "
            f"(got {data.x.dtype}). Choose a method that removes edges."
        )


def _to_mean(x: Tensor) -> Perturb:
    mean = x.mean(dim=0)
    fill = torch.zeros_like(mean) if torch.allclose(x, mean.expand_as(x)) else mean
    return lambda perturbed: torch.where(perturbed[..., None], fill, x)


def _to_scaled(x: Tensor, generator: torch.Generator) -> Perturb:
    def perturb(perturbed: Tensor) -> Tensor:
        factor = 2 * torch.rand(perturbed.size(0), *x.shape, generator=generator).to(x)
        return torch.where(perturbed[..., None], x * factor, x)

    return perturb


def _to_random(x: Tensor, generator: torch.Generator) -> Perturb:
    low, high = x.amin(dim=0), x.amax(dim=0)

    def perturb(perturbed: Tensor) -> Tensor:
        share = torch.rand(perturbed.size(0), *x.shape, generator=generator).to(x)
        return torch.where(perturbed[..., None], low + share * (high - low), x)

    return perturb


def _outputs(prediction: DifferentiablePrediction, perturbed: Tensor, perturb: Perturb) -> Tensor:
    """Return what the model says about the graph as it is, and then about each sample.

    The shape is `[1 + S, C]` for a graph task; a node task has a row for each node of each sample.
    """
    untouched = torch.zeros_like(perturbed[:1])
    rows = torch.cat([untouched, perturbed]).to(prediction.data.x.device)
    parts = rows.split(prediction.copies_per_call)
    asked = [prediction.all_rows(perturb(part).flatten(0, 1), copies=len(part)) for part in parts]
    outputs = torch.cat(asked).cpu()
    return outputs if prediction.node is None else outputs.unflatten(0, (len(rows), -1))


def _count(prediction: DifferentiablePrediction) -> int:
    return int(prediction.data.num_nodes)


def _own_class(target: Target, outputs: Tensor, explained: int) -> Tensor:
    """Return for each sample and node the value of one class `[S, N]`.

    It is the explained class at the explained node, and elsewhere the class that is predicted there
    for the graph as it is, in the first sample.
    """
    if target.task == "regression":
        return outputs[..., target.index].double()
    columns = outputs.size(-1)
    classes = range(max(columns, 2))
    flat = outputs.flatten(0, 1)
    value = torch.stack([target.value(replace(target, index=c).phi(flat)) for c in classes], dim=-1)
    value = value.view(*outputs.shape[:2], -1)
    own = value[0].argmax(dim=-1)
    own[explained] = target.index
    return value.gather(-1, own.expand(value.size(0), -1)[..., None]).squeeze(-1)
