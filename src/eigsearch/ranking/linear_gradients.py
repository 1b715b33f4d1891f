"""Linear gradients: the edge score of EiG-Search."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from eigsearch._utils.tolerances import gradient_tolerance
from eigsearch.candidates import EvalCoroutine, LeaveOneOut
from eigsearch.inference.prediction import PredictedInstance, with_prediction
from eigsearch.inference.target import Target
from eigsearch.inputs.edge_groups import distance_of
from eigsearch.ranking.ranking import Ranking, rank_many


class LinearGradients:
    """Ranks groups by what their removal loses, per unit of weight."""

    def propose(self, instance: PredictedInstance) -> EvalCoroutine[Ranking]:
        """Propose the graph without each group, unless its φ is known."""
        if instance.phi_without is None:
            (phi_without,) = yield [LeaveOneOut(instance.groups.count)]
            instance = with_prediction(instance, phi_without=phi_without)
        return linear_rankings([instance])[0]


def known_rankings(instances: Sequence[PredictedInstance]) -> Sequence[Ranking | None]:
    """Return the ranking of each instance where φ without each group is known for all of them."""
    if any(instance.phi_without is None for instance in instances):
        return [None] * len(instances)
    return linear_rankings(instances)


def linear_rankings(instances: Sequence[PredictedInstance]) -> list[Ranking]:
    """Return the ranking of each instance's groups by linear gradients; all have one task.

    Their `phi_without` has to be known.
    """
    removals = [i.phi_without for i in instances if i.phi_without is not None]
    target, counts = instances[0].target, [phi.numel() for phi in removals]
    owner = torch.from_numpy(np.repeat(np.arange(len(counts)), counts))
    phi_full = torch.stack([instance.phi_full for instance in instances]).cpu()[owner]
    phi_without = torch.cat(removals).cpu()
    distance = distance_of(torch.cat([instance.groups.weight for instance in instances]).cpu())
    score = linear_gradient(target, phi_full, phi_without, distance)
    tolerance = gradient_tolerance(target.task, phi_full, score, distance, owner)
    return rank_many(score.numpy(), tolerance.numpy(), np.cumsum([0, *counts]))


def linear_gradient(
    target: Target, phi_full: Tensor, phi_without: Tensor, distance: Tensor
) -> Tensor:
    """Return s(c|E_t) = (φ(c|A, X) − φ(c|A^t, X)) / |A − A^t| for each group (Lu et al. 2024)."""
    return target.change(phi_full, phi_without) / distance
