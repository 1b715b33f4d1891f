"""Problems whose φ is a function of the keep-row, and searches run on them without a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from eigsearch.candidates import EvalCoroutine, Together
from eigsearch.inference.target import Target
from eigsearch.ranking.ranking import Ranking, rank
from eigsearch.search.base import Problem

Phi = Callable[[Tensor], Tensor]


def problem_of(
    groups: int,
    sparsity: float = 0.0,
    min_size: int = 2,
    task: Any = "regression",
    phi_full: float = 0.0,
    ranking: Ranking | None = None,
) -> Problem:
    """Return a problem on a path whose groups are ranked in order, unless told otherwise."""
    ranking = ranking or rank(torch.arange(groups, 0, -1).double())
    ends = np.arange(groups), np.arange(1, groups + 1), np.arange(groups)
    target = Target(task, "raw", 0)
    full = torch.tensor(phi_full, dtype=torch.float64)
    return Problem(target, full, ranking, sparsity, min_size, ends)


def drive(steps: EvalCoroutine[Any], phi: Phi) -> tuple[Any, list[int]]:
    """Return what a coroutine returns when φ answers it, and how many rows it asked each time."""
    asked: list[int] = []
    answers: Any = None
    while True:
        try:
            candidate_sets = steps.send(answers)
        except StopIteration as stop:
            return stop.value, asked
        if isinstance(candidate_sets, Together):
            (answers,) = candidate_sets.compute([candidate_sets.argument])
            continue
        asked.append(sum(map(len, candidate_sets)))
        answers = [phi(part.rows(0, len(part))).double() for part in candidate_sets]


def linear(*weight: float) -> Phi:
    """Return φ as the sum of the weights of the groups that are kept."""
    return lambda rows: rows.double() @ torch.tensor(weight, dtype=torch.float64)
