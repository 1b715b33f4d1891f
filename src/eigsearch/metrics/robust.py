"""Robust fidelity: fidelity under random edits that stay close to the training data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from eigsearch.candidates import ExplicitMasks, SubgraphKind
from eigsearch.engines import Request
from eigsearch.engines.predictor import Predictor
from eigsearch.errors import InputError
from eigsearch.inference.eval_mode import eval_mode
from eigsearch.inference.prediction import PredictedInstance
from eigsearch.metrics.mask import Claim
from eigsearch.metrics.mask_candidates import kept_groups
from eigsearch.options import Options


@dataclass(frozen=True, eq=False)
class RobustFidelity:
    """Fidelity over random edits; `[]` for one explanation, `[M]` for M of them.

    Attributes:
        fidelity_plus: The mean loss where a few groups of the subgraph go; higher is better.
        fidelity_minus: The mean loss where a few groups outside of it go; lower is better.
    """

    fidelity_plus: Tensor
    fidelity_minus: Tensor

    @property
    def gain(self) -> Tensor:
        """Robust Fidelity+ − robust Fidelity−; higher is better."""
        return self.fidelity_plus - self.fidelity_minus


def robust_fidelity(
    model: Any,
    claim: Claim,
    options: Options | None = None,
    *,
    alpha1: float = 0.1,
    alpha2: float = 0.9,
    samples: int = 50,
    seed: int = 0,
) -> RobustFidelity:
    """Return the fidelities of a claim under random edits (Zheng et al. 2024).

    For Fidelity+ each group of the subgraph is removed from the graph with probability `alpha1`.
    For Fidelity− each group outside of it is kept beside it with probability `alpha2`. Nodes that
    lose all their edges go, as in fidelity itself; `alpha1=1`, `alpha2=0` is that fidelity.
    """
    return robust_fidelities(
        model, [claim], options, alpha1=alpha1, alpha2=alpha2, samples=samples, seed=seed
    )[0]


def robust_fidelities(
    model: Any,
    claims: Sequence[Claim],
    options: Options | None = None,
    *,
    alpha1: float = 0.1,
    alpha2: float = 0.9,
    samples: int = 50,
    seed: int = 0,
) -> list[RobustFidelity]:
    """Return the robust fidelity of each claim, with model calls shared between them.

    Each claim draws from a generator of its own, so its numbers do not depend on its company.
    """
    _check_shares(alpha1=alpha1, alpha2=alpha2)
    run = Predictor(model, options or Options())
    if not claims:
        return []
    with eval_mode(model):
        instances = run.predict([claim.instance for claim in claims])
        drawn = []
        for claim, instance in zip(claims, instances, strict=True):
            keep = kept_groups(claim, instance)
            edits = torch.cat(draw_edits(keep, alpha1, alpha2, samples, seed))
            drawn.append(_distinct(edits.flatten(0, 1)))
        pairs = zip(instances, drawn, strict=True)
        scores = run.evaluator.scores(
            [Request(q, ExplicitMasks(rows, SubgraphKind.EDGE_INDUCED)) for q, (rows, _) in pairs]
        )
    return [
        _mean_change(claim, instance, phi[inverse.to(phi.device)].reshape(2, -1, samples))
        for claim, instance, phi, (_, inverse) in zip(claims, instances, scores, drawn, strict=True)
    ]


def draw_edits(
    keep: Tensor, alpha1: float, alpha2: float, samples: int, seed: int
) -> tuple[Tensor, Tensor]:
    """Return random keep-rows around subgraphs `[M, G]`: edits inside, and edits outside.

    Both are `[M, samples, G]`. All M subgraphs share their random numbers, so that subgraphs are
    compared on the same edits.
    """
    generator = torch.Generator().manual_seed(seed)
    inside = torch.rand(samples, keep.size(1), generator=generator, dtype=torch.float64)
    outside = torch.rand(samples, keep.size(1), generator=generator, dtype=torch.float64)
    keep = keep[:, None, :]
    return ~keep | (inside >= alpha1), keep | (outside < alpha2)


def _distinct(rows: Tensor) -> tuple[Tensor, Tensor]:
    """Return the distinct rows, and the index of each given row among them."""
    if rows.size(1) == 0:  # a graph without edges has one subgraph, which `unique` refuses
        return rows[:1], torch.zeros(rows.size(0), dtype=torch.long)
    unique, inverse = torch.unique(rows, dim=0, return_inverse=True)
    return unique, inverse


def _mean_change(claim: Claim, instance: PredictedInstance, phi: Tensor) -> RobustFidelity:
    target = instance.target
    change = target.change(target.value(instance.phi_full), target.value(phi)).mean(dim=-1).cpu()
    return RobustFidelity(*(row.reshape(claim.shape) for row in change))


def _check_shares(**shares: float) -> None:
    for name, share in shares.items():
        if not 0 <= share <= 1:
            raise InputError(
                f"Expected `{name}` to be a probability (got {share}). Pass a number from 0 to 1."
            )
