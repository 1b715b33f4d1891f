"""Fidelity+ and Fidelity−: the change of a prediction without a subgraph, and with it alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import torch
from torch import Tensor
from torch_geometric.explain.metric import characterization_score

from eigsearch.candidates import FullGraph
from eigsearch.engines import Request
from eigsearch.engines.predictor import Predictor
from eigsearch.inference.eval_mode import eval_mode
from eigsearch.inference.prediction import PredictedInstance
from eigsearch.inference.target import Target
from eigsearch.metrics.mask import Claim
from eigsearch.metrics.mask_candidates import kept_requests, removed_request
from eigsearch.options import Options


@dataclass(frozen=True, eq=False)
class Fidelity:
    """How a prediction depends on a subgraph; `[]` for one explanation, `[M]` for M of them.

    A label counts as kept where the model still gives the explained class. A regression has no
    labels: there the label columns are NaN, and fidelities are absolute changes.

    Attributes:
        whole: φ(G): the probability of the explained class, or the regressed value.
        kept: φ(S), of the subgraph alone.
        removed: φ(G[E∖E_S]), of the graph without the edges of the subgraph.
        fidelity_plus: φ(G) − φ(G[E∖E_S]), its size for a regression; higher is better.
        fidelity_minus: φ(G) − φ(S), its size for a regression; lower is better.
        label_fidelity_plus: The same for [the class is predicted]; higher is better.
        label_fidelity_minus: The same for [the class is predicted]; lower is better.
    """

    whole: Tensor
    kept: Tensor
    removed: Tensor
    fidelity_plus: Tensor
    fidelity_minus: Tensor
    label_fidelity_plus: Tensor
    label_fidelity_minus: Tensor

    @property
    def gain(self) -> Tensor:
        """Fidelity+ − Fidelity−; higher is better."""
        return self.fidelity_plus - self.fidelity_minus

    @property
    def label_gain(self) -> Tensor:
        """Fidelity+ − Fidelity− by label; higher is better."""
        return self.label_fidelity_plus - self.label_fidelity_minus


def fidelity(model: Any, claim: Claim, options: Options | None = None) -> Fidelity:
    """Return Fidelity+, Fidelity− and gain of a claim (Lu et al. 2024, Definition 3.7)."""
    return fidelities(model, [claim], options)[0]


def fidelities(
    model: Any, claims: Sequence[Claim], options: Options | None = None
) -> list[Fidelity]:
    """Return the fidelity of each claim, with model calls shared between them."""
    run = Predictor(model, options or Options())
    if not claims:
        return []
    with eval_mode(model):
        instances = run.predict([claim.instance for claim in claims])
        pairs = list(zip(claims, instances, strict=True))
        parts = [_requests(claim, instance) for claim, instance in pairs]
        outputs = iter(run.evaluator.outputs([request for part in parts for request in part]))
    answers = [torch.cat(list(islice(outputs, len(part)))).cpu() for part in parts]
    return [_fidelity(*pair, rows) for pair, rows in zip(pairs, answers, strict=True)]


def _requests(claim: Claim, instance: PredictedInstance) -> list[Request]:
    full = Request(instance, FullGraph(instance.groups.count))
    return [full, removed_request(claim, instance), *kept_requests(claim, instance)]


def _fidelity(claim: Claim, instance: PredictedInstance, output: Tensor) -> Fidelity:
    """Return the fidelity that belongs to the outputs for G, each G[E∖E_S] and each S."""
    target, count = instance.target, claim.shape.numel()
    value = target.value(target.phi(output))
    label = _predicts(target, output)
    (full, removed, kept), (hit, hit_removed, hit_kept) = (
        column.split([1, count, count]) for column in (value, label)
    )
    columns = (
        full.expand(count),
        kept,
        removed,
        target.change(full, removed),
        target.change(full, kept),
        hit - hit_removed,
        hit - hit_kept,
    )
    return Fidelity(*(column.reshape(claim.shape) for column in columns))


def _predicts(target: Target, output: Tensor) -> Tensor:
    """Return 1 where the explained class is the predicted one, else 0; NaN for a regression."""
    if target.task == "regression":
        return torch.full((output.size(0),), torch.nan, dtype=torch.float64)
    if target.task == "binary_classification":
        return (target.phi(output) > 0).double()
    return (output.argmax(dim=1) == target.index).double()


def characterization(
    fidelity_plus: Tensor, fidelity_minus: Tensor, *, plus_weight: float = 0.5
) -> Tensor:
    """Return the weighted harmonic mean of Fidelity+ and 1 − Fidelity− (Amara et al. 2022).

    A harmonic mean needs shares, so both fidelities are clipped to [0, 1] first.

    >>> round(float(characterization(torch.tensor(0.5), torch.tensor(0.0))), 3)
    0.667
    """
    plus, minus = (value.clamp(0, 1) for value in (fidelity_plus, fidelity_minus))
    return characterization_score(plus, minus, plus_weight, 1 - plus_weight)
