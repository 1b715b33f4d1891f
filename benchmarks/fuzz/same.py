"""When two answers are the same: scores within rounding, and the same edges but for ties."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from benchmarks.fuzz.cases import Case
from benchmarks.fuzz.order import minds_order
from benchmarks.fuzz.plain import Plain
from eigsearch import SubgraphExplanation
from eigsearch._utils.tolerances import GAIN, gradient_tolerance
from eigsearch.ranking.ranking import rank

_CLOSE = 1e-9  # drops this close need no second look


class Broken(AssertionError):
    """A promise that an explanation did not keep."""


def promise(kept: bool, words: str) -> None:
    """Fail with the words where a promise is not kept."""
    if not kept:
        raise Broken(words)


def same_answers(
    case: Case,
    ones: Sequence[SubgraphExplanation],
    others: Sequence[SubgraphExplanation],
    words: str,
    edges: Sequence[Tensor] | None = None,
) -> None:
    """Compare answers; `edges` says where the edges of the others stand in the graphs of ones."""
    promise(len(ones) == len(others), f"as many answers {words}")
    for number, (one, other) in enumerate(zip(ones, others, strict=True)):
        order = torch.arange(one.data.num_edges) if edges is None else edges[number]
        Pair(case, one, other, order, named=edges is None).check(words)


class Pair:
    """Two answers to one question."""

    def __init__(
        self,
        case: Case,
        one: SubgraphExplanation,
        other: SubgraphExplanation,
        order: Tensor,
        named: bool,
    ) -> None:
        self.case, self.one, self.other, self.order, self.named = case, one, other, order, named
        self.plain = Plain(case)

    def check(self, words: str) -> None:
        """Fail where the answers differ by more than rounding, ties and the model explain."""
        promise(self.one.num_groups == self.other.num_groups, f"as many groups {words}")
        self.case.notes["compared"] += 1
        try:
            self._compare(words)
        except Broken:
            if self.named or not minds_order(self.plain, self.one, self.other, self.order):
                raise
            self.case.notes["compared, the model minds the order"] += 1

    def _compare(self, words: str) -> None:
        one, other = self.one, self.other
        promise(one.target == other.target, f"the same target {words}")
        apart = self.apart
        near = apart <= _CLOSE or apart <= self.plain.tolerance_of_drop(one)
        promise(near, f"the same drops {words}: {apart:.3g} apart")
        if not torch.equal(one.edge_mask[self.order], other.edge_mask):
            self.case.notes["compared, tie"] += 1
            promise(self.ties, f"the same edges {words}: gain {one.gain}, {other.gain}")

    @property
    def apart(self) -> float:
        """How far the drops of any edge are apart."""
        weight = self.plain.distance(self.one)
        difference = (self.one.edge_score[self.order] - self.other.edge_score).abs()
        return float((difference * weight[self.order]).max()) if difference.numel() else 0.0

    @property
    def ties(self) -> bool:
        """Whether the answers differ where a decision stands on rounding, or on a split tie."""
        if not self.named and (self._splits_a_tie or self._climbs_among_equals):
            return True
        return self._unsure_ranking or self._unsure_gain

    @property
    def _climbs_among_equals(self) -> bool:
        """Whether a search had equal groups to choose between, which numbering orders."""
        return self.case.options["search"] != "sweep" and self._has_ties

    @property
    def _has_ties(self) -> bool:
        return len(rank(self.one.score, self._tie_tolerance).cuts) < self.one.num_groups

    @property
    def _unsure_ranking(self) -> bool:
        """Whether rounding decides if two neighbours of the ranking tie."""
        score, near = self.one.score, self._tie_tolerance
        order = score.argsort(descending=True, stable=True)
        step = score[order[:-1]] - score[order[1:]]
        limit = torch.maximum(near[order[:-1]], near[order[1:]])
        noise = 4 * self.apart / self._group_distance + 1e-12
        return bool(((step - limit).abs() <= noise[order[:-1]] + noise[order[1:]]).any())

    @property
    def _unsure_gain(self) -> bool:
        """Whether rounding decides which size has the best gain."""
        mine, theirs = self.one.curve, self.other.curve
        if mine.size.tolist() != theirs.size.tolist():
            return False
        noise = 4 * float((mine.gain - theirs.gain).abs().max()) + 1e-12
        scale = max(1.0, float(mine.kept.abs().max()), float(mine.removed.abs().max()))
        limit = mine.gain.max() - GAIN * scale
        return bool(((mine.gain - limit).abs() <= noise).any())

    @property
    def _splits_a_tie(self) -> bool:
        """Whether the chosen size cuts through groups of equal score, which numbering orders."""
        return self.one.size not in rank(self.one.score, self._tie_tolerance).cuts

    @property
    def _tie_tolerance(self) -> Tensor:
        whole = torch.tensor(self.plain.phi(self.one, self.one.data, self.one.node)).double()
        target, score = self.plain.target(self.one), self.one.score
        owner = torch.zeros(len(score), dtype=torch.long)
        return gradient_tolerance(target.task, whole, score, self._group_distance, owner)

    @property
    def _group_distance(self) -> Tensor:
        return self.plain.groups(self.one).distance
