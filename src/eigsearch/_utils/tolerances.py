"""Tolerances: when two numbers count as equal up to rounding, for the whole package."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

# Scores of groups: far above rounding noise, far below a visible difference.
SCORE_TIE = 1e-4  # log-odds; for a regression, of the largest score
PHI_ROUNDING = 2e-6  # of φ itself, where φ is so large that float32 is coarser than SCORE_TIE

# Gains: below this only rounding differs, and the smaller subgraph wins.
GAIN = 1e-6  # probability; for a regression, of the largest φ

# Subgraphs this close in gain count as equally good answers.
NEAR_OPTIMAL = 0.01  # probability; for a regression, of the gain

# Outputs of a model, relative to their size; rounding measured at most 1e-5 in float32.
BATCH = 1e-3  # the same graph alone and in a batch, or in two calls
REPEATS = 2e-5  # the same batch in two calls of a model that draws random numbers
ENGINES = 1e-3  # the batched and the incremental engine
HOPS = 2e-5  # a node's output on one computation graph and on a larger one

# Probabilities in single precision, and their sums.
PROBABILITY = 1e-4

_CONSECUTIVE_ROUNDINGS = 4  # of a number format so coarse that its own rounding shows


def outputs_close(left: Tensor, right: Tensor, rtol: float) -> bool:
    """Return whether outputs of a model are equal up to `rtol` of their size."""
    if not left.is_floating_point():
        return torch.equal(left, right)
    rtol = max(rtol, _CONSECUTIVE_ROUNDINGS * torch.finfo(left.dtype).eps)
    size = left.abs()
    return bool(((left - right).abs() <= rtol * (size.max().clamp(max=1) + size)).all())


def numbers_close(left: float, right: float, rtol: float) -> bool:
    """Return what `outputs_close` does for two numbers in float64, in a tenth of the time."""
    return abs(left - right) <= rtol * (min(abs(left), 1) + abs(left))


def gain_rounding(kept: np.ndarray, removed: np.ndarray) -> float:
    """Return how far gains may differ by rounding alone, given the values they come from."""
    return GAIN * float(max(np.abs(kept).max(initial=0.0), np.abs(removed).max(initial=0.0)))


def gain_tolerance(task: str, phi_kept: np.ndarray, phi_removed: np.ndarray) -> float:
    """Return how far gains of subgraphs with these φ may differ by rounding alone."""
    return gain_rounding(phi_kept, phi_removed) if task == "regression" else GAIN


def near_optimal_tolerance(task: str, gain: float) -> float:
    """Return how far below a gain another one may be and still count as equally good."""
    return NEAR_OPTIMAL * (abs(gain) if task == "regression" else 1.0)


def score_tolerance(task: str, phi_full: float, score: np.ndarray) -> float:
    """Return how far scores in units of φ may differ and still tie."""
    largest = float(np.abs(score).max(initial=0.0))
    unit = largest if task == "regression" else 1.0
    return max(SCORE_TIE * unit, PHI_ROUNDING * max(largest, abs(phi_full)))


def score_rounding(score: Tensor) -> float:
    """Return how far scores of unknown unit may differ by rounding alone."""
    return PHI_ROUNDING * float(score.abs().max()) if score.numel() else 0.0


def gradient_tolerance(
    task: str, phi_full: Tensor, score: Tensor, distance: Tensor, owner: Tensor
) -> Tensor:
    """Return, per group, how far linear gradients may differ and still tie.

    A tie is 1e-4 in log-odds. A regression has no natural unit: there it is 1e-4 of the largest
    drop among the groups of the same graph.

    Args:
        task: The task of all graphs.
        phi_full: φ of the graph that each group is from.
        score: The linear gradient of each group.
        distance: |A − A^t| of each group.
        owner: The number of the graph that each group is from.
    """
    unit = torch.full_like(score, SCORE_TIE)
    if task == "regression" and score.numel():
        drop = (score * distance).abs()
        largest = drop.new_zeros(int(owner.max()) + 1).scatter_reduce_(0, owner, drop, "amax")
        unit = SCORE_TIE * largest[owner]
    return torch.maximum(unit, PHI_ROUNDING * phi_full.abs()) / distance
