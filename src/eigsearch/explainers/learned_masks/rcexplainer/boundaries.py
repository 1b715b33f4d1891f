"""Decision boundaries: the planes at which the head's predicted class changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

_HALVINGS = 40  # of a segment between two classes: as close to the boundary as floats allow
_EPSILON = 1e-3  # tells planes apart that lose no point of their class

Scores = Callable[[Tensor], Tensor]  # embeddings `[n, d]` in, log-probabilities `[n, C]` out


@dataclass(frozen=True, eq=False)
class Planes:
    """Planes w·z + b that are positive on the side of one class, `[P, d]` and `[P]`.

    Near its plane, w·z + b is by how much the class's score exceeds that of its rival.
    """

    weight: Tensor
    bias: Tensor

    def __call__(self, embedding: Tensor) -> Tensor:
        """Return how far on the side of the class embeddings are, for each plane, `[n, P]`."""
        return embedding @ self.weight.t() + self.bias


def class_planes(scores: Scores, embedding: Tensor, label: int, samples: int) -> Planes | None:
    """Return planes that together separate a class from the others, None without two classes.

    Candidates are found between random pairs of embeddings, one of the class and one of another:
    where the two top scores meet, the plane is where their linear continuations are equal. Planes
    are then taken greedily, those first that cut off most points of other classes for the fewest
    of their own (Bajaj et al. 2021).
    """
    predicted = scores(embedding).argmax(dim=1)
    own, other = embedding[predicted == label], embedding[predicted != label]
    if len(own) == 0 or len(other) == 0:
        return None
    start = own[torch.randint(len(own), (samples,))]
    stop = other[torch.randint(len(other), (samples,))]
    candidates = _tangents(scores, _crossing(scores, start, stop, label), label)
    return _separating(candidates, own, other)


def _crossing(scores: Scores, start: Tensor, stop: Tensor, label: int) -> Tensor:
    """Return the last point of each segment, by bisection, at which the class still wins."""
    for _ in range(_HALVINGS):
        middle = (start + stop) / 2
        inside = (scores(middle).argmax(dim=1) == label)[:, None]
        start, stop = torch.where(inside, middle, start), torch.where(inside, stop, middle)
    return start


def _tangents(scores: Scores, point: Tensor, label: int) -> Planes:
    """Return the planes at which the class and its strongest rival are level near each point."""
    point = point.detach().requires_grad_()
    score = scores(point)
    rivals = score.detach().clone()
    rivals[:, label] = -torch.inf
    margin = score[:, label] - score.gather(1, rivals.argmax(dim=1, keepdim=True)).squeeze(1)
    (weight,) = torch.autograd.grad(margin.sum(), point)
    bias = margin.detach() - (weight * point.detach()).sum(dim=1)
    return Planes(weight, bias)


def _separating(planes: Planes, own: Tensor, other: Tensor) -> Planes:
    """Choose planes until no other class is left inside, or none of the planes helps."""
    keeps, admits = planes(own) > 0, planes(other) > 0
    still_own = torch.ones(len(own), dtype=torch.bool)
    still_other = torch.ones(len(other), dtype=torch.bool)
    chosen: list[int] = []
    while still_other.any():
        lost = (still_own[:, None] & ~keeps).sum(dim=0)
        removed = (still_other[:, None] & ~admits).sum(dim=0)
        cost = torch.where(removed > 0, (lost + _EPSILON) / removed, torch.inf)
        best = int(cost.argmin())
        if cost[best] == torch.inf:
            break
        chosen.append(best)
        still_own, still_other = still_own & keeps[:, best], still_other & admits[:, best]
    return Planes(planes.weight[chosen or [0]], planes.bias[chosen or [0]])
