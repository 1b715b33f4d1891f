"""Rankings: linear gradients, their order, and the ties that enter together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.candidates import CandidateSet, Complements, EvalCoroutine, LeaveOneOut, Prefixes
from eigsearch.inference.target import Target
from eigsearch.inputs.edge_groups import Groups, distance_of
from eigsearch.inputs.instance import PreparedInstance

TIE_TOLERANCE = 1e-4  # in log-odds: well above rounding noise, well below what anybody would see
ROUNDING = 2e-6  # of φ itself, where a score is so large that float32 is coarser than that


class Ranker(Protocol):
    """Anything that scores the edges, or the nodes, of one graph for one prediction."""

    @property
    def name(self) -> str:
        """What the ranker is called."""
        ...

    @property
    def level(self) -> Literal["edge", "node"]:
        """Whether the scores are for edges or for nodes."""
        ...

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return a score for each directed edge (or each node); higher is more important."""
        ...


@dataclass(frozen=True, eq=False)
class Ranking:
    """Groups from the most to the least important.

    Attributes:
        score: The score of each group, `[G]`.
        order: The groups by descending score, equal scores in the order of the graph.
        cuts: The sizes at which a cut separates two different scores, ascending; the last is G.
    """

    score: Tensor
    order: Tensor
    cuts: tuple[int, ...]

    @property
    def count(self) -> int:
        """The number of groups."""
        return self.order.numel()

    def within(self, size: int) -> int:
        """Return the largest size that the ranking can be cut at and that is at most `size`."""
        return size

    def keep(self, size: int) -> Tensor:
        """Return the keep-mask of the first `size` groups."""
        mask = np.zeros(self.count, bool)
        mask[self.order.numpy()[:size]] = True
        return torch.from_numpy(mask)

    def kept(self, sizes: Sequence[int]) -> CandidateSet:
        """Return the candidates that hold the first k groups alone, for each size k."""
        return Prefixes(self.order, sizes)

    def removed(self, sizes: Sequence[int]) -> CandidateSet:
        """Return the candidates that hold everything but the first k groups."""
        return Complements(self.order, sizes)


@runtime_checkable
class CandidateRanker(Protocol):
    """A ranker whose scores come from candidates, and that leaves their evaluation to an engine."""

    def ask(self, instance: PreparedInstance, whole: Tensor) -> EvalCoroutine[Ranking]:
        """Ask for candidates until the ranking of a query's groups is known."""
        ...


class LinearGradients:
    """The ranking of EiG-Search: what the removal of each group loses, per unit of weight."""

    def ask(self, instance: PreparedInstance, whole: Tensor) -> EvalCoroutine[Ranking]:
        """Ask for the graph without each group, unless it is known."""
        without = instance.without
        if without is None:
            (without,) = yield [LeaveOneOut(instance.groups.count)]
        return linear_rankings([instance], [whole], [without])[0]


def linear_rankings(
    instances: Sequence[PreparedInstance], wholes: Sequence[Tensor], withouts: Sequence[Tensor]
) -> list[Ranking]:
    """Return the ranking of each query's groups by their linear gradients; all are of one task."""
    known_target, counts = instances[0].known_target, [without.numel() for without in withouts]
    owner = torch.from_numpy(np.repeat(np.arange(len(counts)), counts))
    whole, without = torch.stack(list(wholes)).cpu()[owner], torch.cat(list(withouts)).cpu()
    distance = distance_of(torch.cat([instance.groups.weight for instance in instances]).cpu())
    score = linear_gradient(known_target, whole, without, distance)
    near = tie_tolerance(known_target, whole, score, distance, owner)
    return rank_many(score.numpy(), near.numpy(), np.cumsum([0, *counts]))


def linear_gradient(target: Target, whole: Tensor, without: Tensor, distance: Tensor) -> Tensor:
    """Return s(c|E_t) = (φ(c|A, X) − φ(c|A^t, X)) / |A − A^t| for each group (Lu et al. 2024).

    `whole` is φ of the graph, `without` φ of the graph without each group.
    """
    return target.change(whole, without) / distance


def rank(score: Tensor, tolerance: Tensor | float = 0.0) -> Ranking:
    """Return the ranking of scores; neighbours within `tolerance` of each other tie.

    A tolerance may be given per group; two groups then tie within the larger of theirs. Groups that
    tie stand in the order of the graph, whatever rounding made of their scores.

    >>> rank(torch.tensor([1.0, 3.0, 1.0])).cuts
    (1, 3)
    """
    value = score.detach().cpu().double().numpy()
    near = np.broadcast_to(torch.as_tensor(tolerance).cpu().numpy(), value.shape)
    return rank_many(value, near, np.array([0, len(value)]))[0]


def rank_many(value: np.ndarray, near: np.ndarray, start: np.ndarray) -> list[Ranking]:
    """Return the rankings of several lists of scores that lie end to end, with their tolerances.

    `start` says where each begins, and at the end where the last one ends. They are sorted as one,
    each below the one before it, so that a hundred short ones take hardly longer than one.
    """
    owner = np.repeat(np.arange(len(start) - 1), np.diff(start))
    order = np.lexsort((-value, owner))
    begins = owner[1:] != owner[:-1]
    step = value[order[:-1]] - value[order[1:]]
    apart = begins | (step > _pairwise(step, near[order], begins))
    tie = np.zeros(len(order), np.int64)
    tie[order[1:]] = np.cumsum(apart)
    order = np.argsort(tie, kind="stable")
    ends = np.append(np.flatnonzero(apart) + 1, len(value))
    cuts = np.split(ends, np.searchsorted(ends, start[1:-1], side="right"))
    return [
        Ranking(
            torch.from_numpy(value[a:b]),
            torch.from_numpy(order[a:b] - a),
            tuple((cut - a).tolist()) if b > a else (),
        )
        for a, b, cut in zip(start[:-1].tolist(), start[1:].tolist(), cuts, strict=True)
    ]


def _pairwise(step: np.ndarray, near: np.ndarray, begins: np.ndarray) -> np.ndarray:
    """Return the tolerance between neighbours: the larger one, of all that equal either of them.

    Rounding orders equal scores, so which of them a neighbour meets must not matter. `begins` marks
    the neighbours that are from two lists.
    """
    if not len(near):
        return near
    first = np.concatenate([[True], begins | (step > np.minimum(near[:-1], near[1:]))])
    widest = np.maximum.reduceat(near, np.flatnonzero(first))[np.cumsum(first) - 1]
    return np.maximum(widest[:-1], widest[1:])


def tie_tolerance(
    target: Target, whole: Tensor, score: Tensor, distance: Tensor, owner: Tensor
) -> Tensor:
    """Return, per group, how far apart scores may be and still count as equal.

    Equal means within 1e-4 in log-odds. A regression has no natural unit: there it is 1e-4 of the
    largest drop among the groups of the same owner.
    """
    unit = torch.full_like(score, TIE_TOLERANCE)
    if target.task == "regression" and score.numel():
        drop = (score * distance).abs()
        largest = drop.new_zeros(int(owner.max()) + 1).scatter_reduce_(0, owner, drop, "amax")
        unit = TIE_TOLERANCE * largest[owner]
    return torch.maximum(unit, ROUNDING * whole.abs()) / distance


def rounding(score: Tensor) -> float:
    """Return how far apart scores of unknown unit may be and still be equal but for rounding."""
    return ROUNDING * float(score.abs().max()) if score.numel() else 0.0


def group_scores(edge_score: Tensor, groups: Groups) -> Tensor:
    """Return the mean score of the edges of each group."""
    removable = groups.index >= 0
    index = groups.index[removable]
    total = torch.zeros(groups.count, dtype=torch.float64, device=index.device)
    total.index_add_(0, index, edge_score.to(index.device).double()[removable])
    return total / torch.bincount(index, minlength=groups.count)
