"""Models that mind the order of edges: what the bare model says about a graph under two names."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from tests.reference.twin import spanning
from torch import Tensor

from benchmarks.fuzz.plain import Plain
from eigsearch import SubgraphExplanation


def minds_order(
    plain: Plain, one: SubgraphExplanation, other: SubgraphExplanation, order: Tensor
) -> bool:
    """Tell whether the model, called by itself, contradicts itself about one of the candidates.

    `order` says where the edges of the other answer's graph stand in the graph of the one.
    """
    near = plain.tolerance_of_drop(one) / 2  # a drop is a difference of two
    return any(
        abs(
            plain.phi(one, spanning(one.data, keep), one.node)
            - plain.phi(one, spanning(other.data, keep[order]), other.node)
        )
        > near
        for keep in _candidates(plain, one)
    )


def _candidates(plain: Plain, ex: SubgraphExplanation) -> Iterator[Tensor]:
    """Yield the graph, the graph without each group, each prefix of the ranking and its rest."""
    yield torch.ones(ex.data.num_edges, dtype=torch.bool)
    members = [plain.in_group(ex, number) for number in range(ex.num_groups)]
    yield from (~member for member in members)
    prefix = torch.zeros(ex.data.num_edges, dtype=torch.bool)
    for number in ex.order.tolist():
        prefix = prefix | members[number]
        yield prefix
        yield ~prefix
