"""Rankers by name, and what stays as it is given."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.ranking.fixed_scores import FixedScores
from eigsearch.ranking.linear_gradients import LinearGradients
from eigsearch.ranking.output_norm import OutputNorm
from eigsearch.ranking.registry import make_ranker


class ByNumber:
    """A ranker of its own: the later an edge, the more important."""

    name, level, explains = "by number", "edge", ("graph",)

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        return torch.arange(data.num_edges).double()


def test_make_ranker_object_with_name_level_and_rank_is_that_object() -> None:
    own = ByNumber()
    assert make_ranker(own) is own


def test_make_ranker_object_that_proposes_candidates_is_that_object() -> None:
    own = OutputNorm()
    assert make_ranker(own) is own


def test_make_ranker_name_none_and_tensor_make_what_they_stand_for() -> None:
    assert isinstance(make_ranker(None), LinearGradients)
    assert isinstance(make_ranker("output_norm"), OutputNorm)
    assert isinstance(make_ranker(torch.ones(3)), FixedScores)
