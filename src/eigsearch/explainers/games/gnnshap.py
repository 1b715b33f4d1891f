"""GNNShap: Shapley values of edges, by the regression of KernelSHAP."""

from __future__ import annotations

from math import comb
from types import MappingProxyType
from typing import ClassVar

import torch
from torch import Tensor

from eigsearch._utils.tolerances import score_rounding
from eigsearch.candidates import EvalCoroutine, ExplicitMasks, SubgraphKind
from eigsearch.explainers.base import EVERY_TASK, Card, ScoreType
from eigsearch.explainers.common.candidate_based import CandidateExplainer
from eigsearch.inference.prediction import PredictedInstance
from eigsearch.ranking.ranking import Ranking, rank

_SINGULAR = 1e-9  # eigenvalues below this share of the largest are directions that no row tells


class GNNShap(CandidateExplainer):
    """Scores a group by its Shapley value in the game that the probability of the class defines.

    Players are the groups that the prediction can depend on; an absent group has its edges removed.
    Values solve the weighted least squares of KernelSHAP under Σ values = v(all) − v(none): over
    all coalitions where there are at most `samples` of them, which is exact, otherwise over that
    many sampled ones. Sizes are sampled in proportion to the kernel, each coalition together with
    its complement. Where samples leave values undetermined, the smallest ones are returned.
    """

    card: ClassVar[Card] = Card(
        name="GNNShap",
        level="edge",
        citation="Akkas and Azad, GNNShap: Scalable and Accurate GNN Explanation, WWW 2024",
        score_type=ScoreType.SIGNED,
        faithful_to="the paper: KernelSHAP with edges as players",
        cost="`samples` predictions, or 2^groups if these are fewer",
        tasks=EVERY_TASK,
        typed=True,
        deviations=(
            "the two directions of an undirected edge are one player",
            "graph tasks too, where the paper has nodes",
        ),
        seeded=True,
        color="blue",
        dash="dashdotdot",
    )
    cheap_options = MappingProxyType({"samples": 20})

    def __init__(self, samples: int = 10_000, seed: int = 0) -> None:
        self.samples = samples
        self.seed = seed

    def propose(self, instance: PredictedInstance) -> EvalCoroutine[Ranking]:
        """Propose sampled coalitions and the empty one, all at once."""
        players = instance.groups.count
        generator = torch.Generator().manual_seed(self.seed)
        rows, weight = sample_coalitions(players, self.samples, generator)
        nobody = torch.zeros(1, players, dtype=torch.bool)
        (phi,) = yield [ExplicitMasks(torch.cat([nobody, rows]), SubgraphKind.ALL_NODES)]
        phi = torch.cat([instance.phi_full.reshape(1).cpu(), phi.cpu()])
        value = instance.target.value(phi).double()
        score = kernel_shap(rows, weight, value[2:] - value[1], value[0] - value[1])
        return rank(score, score_rounding(score))


def sample_coalitions(
    players: int, samples: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Return distinct coalitions, neither empty nor full, `[S, players]`, and their weights `[S]`.

    They are all that exist, weighted by the Shapley kernel, if these are at most `samples`.
    """
    if players < 2:
        return torch.zeros(0, players, dtype=torch.bool), torch.zeros(0, dtype=torch.float64)
    size = torch.arange(1, players, dtype=torch.float64)
    if 2 ** min(players, 62) - 2 <= samples:
        number = torch.arange(1, 2**players - 1)
        rows = (number[:, None] >> torch.arange(players) & 1).bool()
        ways = torch.tensor([comb(players, k) for k in range(1, players)], dtype=torch.float64)
        return rows, (1 / (ways * size * (players - size)))[rows.sum(dim=1) - 1]
    share = 1 / (size * (players - size))
    drawn = torch.multinomial(share, max(samples // 2, 1), replacement=True, generator=generator)
    arrival = torch.rand(len(drawn), players, generator=generator).argsort(1).argsort(1)
    rows = arrival <= drawn[:, None]
    rows, count = torch.unique(torch.cat([rows, ~rows]), dim=0, return_counts=True)
    return rows, count.double()


def kernel_shap(rows: Tensor, weight: Tensor, worth: Tensor, total: Tensor) -> Tensor:
    """Return argmin_s Σ_i weight_i (rows_i · s − worth_i)² subject to Σ s = total.

    `worth` is that of each coalition and `total` that of all players, both above the empty one. Of
    several solutions the one closest to equal shares is returned.
    """
    equal = total / rows.size(1)
    size = rows.double().mean(dim=1, keepdim=True)
    inside = rows.double() - size  # acts on s as rows do, as long as Σ s = 0
    rest = worth - equal * rows.sum(dim=1)
    gram = inside.t() @ (weight[:, None] * inside)
    return equal + torch.linalg.pinv(gram, rtol=_SINGULAR, hermitian=True) @ (
        inside.t() @ (weight * rest)
    )
