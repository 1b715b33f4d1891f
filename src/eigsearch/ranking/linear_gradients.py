"""Linear gradients: the edge score of EiG-Search."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from eigsearch._utils.tolerances import gradient_tolerance
from eigsearch.candidates import EvalCoroutine, LeaveOneOut
from eigsearch.inference.target import Target
from eigsearch.inputs.edge_groups import distance_of
from eigsearch.inputs.instance import PreparedInstance
from eigsearch.ranking.ranking import Ranking, rank_many


class LinearGradients:
    """Ranks groups by what their removal loses, per unit of weight."""

    def propose(self, instance: PreparedInstance, phi_full: Tensor) -> EvalCoroutine[Ranking]:
        """Propose the graph without each group, unless its φ is known."""
        phi_without = instance.without
        if phi_without is None:
            (phi_without,) = yield [LeaveOneOut(instance.groups.count)]
        return linear_rankings([instance], [phi_full], [phi_without])[0]


def linear_rankings(
    instances: Sequence[PreparedInstance],
    phis_full: Sequence[Tensor],
    phis_without: Sequence[Tensor],
) -> list[Ranking]:
    """Return the ranking of each instance's groups by linear gradients; all have one task."""
    target, counts = instances[0].known_target, [phi.numel() for phi in phis_without]
    owner = torch.from_numpy(np.repeat(np.arange(len(counts)), counts))
    phi_full = torch.stack(list(phis_full)).cpu()[owner]
    phi_without = torch.cat(list(phis_without)).cpu()
    distance = distance_of(torch.cat([instance.groups.weight for instance in instances]).cpu())
    score = linear_gradient(target, phi_full, phi_without, distance)
    tolerance = gradient_tolerance(target.task, phi_full, score, distance, owner)
    return rank_many(score.numpy(), tolerance.numpy(), np.cumsum([0, *counts]))


def linear_gradient(
    target: Target, phi_full: Tensor, phi_without: Tensor, distance: Tensor
) -> Tensor:
    """Return s(c|E_t) = (φ(c|A, X) − φ(c|A^t, X)) / |A − A^t| for each group (Lu et al. 2024)."""
    return target.change(phi_full, phi_without) / distance
