"""Registry: the rankers of the library by name."""

from __future__ import annotations

from eigsearch.errors import InputError
from eigsearch.ranking.linear_gradients import LinearGradients
from eigsearch.ranking.output_norm import OutputNorm
from eigsearch.ranking.rankers import CandidateRanker, Ranker

RANKERS: dict[str, type[CandidateRanker]] = {
    "linear_gradients": LinearGradients,
    "output_norm": OutputNorm,
}


def make_ranker(ranker: str | Ranker | CandidateRanker | None) -> Ranker | CandidateRanker:
    """Return the ranker for a name or an object; None means linear gradients.

    Raises:
        InputError: If the name is unknown.
    """
    if ranker is None:
        return LinearGradients()
    if not isinstance(ranker, str):
        return ranker
    if ranker not in RANKERS:
        raise InputError(
            f"Expected `ranker` to be one of {', '.join(RANKERS)} (got {ranker!r}). Choose one of "
            "these, or pass an explainer: eigsearch.explainers.get(name)."
        )
    return RANKERS[ranker]()
