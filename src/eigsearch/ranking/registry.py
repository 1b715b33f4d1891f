"""Registry: the rankers of the library by name."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from torch import Tensor

from eigsearch.ranking.fixed_scores import FixedScores
from eigsearch.ranking.linear_gradients import LinearGradients
from eigsearch.ranking.output_norm import OutputNorm
from eigsearch.ranking.rankers import CandidateRanker, Ranker

RANKERS: dict[str, type[CandidateRanker]] = {
    "linear_gradients": LinearGradients,
    "output_norm": OutputNorm,
}


def make_ranker(ranker: Any) -> Ranker | CandidateRanker:
    """Return the ranker for a name or an object; None means linear gradients.

    Args:
        ranker: A name of `RANKERS` or of an explainer (`"ig"`), `package.module:name` or
            `file.py:name`, a tensor of scores, a function `(model, data, target, node) -> scores`,
            an object or a class with `rank`, an algorithm of PyG, or a class of captum.

    Raises:
        InputError: If the name is unknown, or the object scores nothing.
    """
    if ranker is None:
        return LinearGradients()
    if isinstance(ranker, Tensor):
        return FixedScores(ranker)
    if isinstance(ranker, str):
        known = RANKERS.get(ranker)
        return known() if known is not None else _explainers("registry").get(ranker)
    if isinstance(ranker, CandidateRanker) or _is_ranker(ranker):
        return ranker
    return _explainers("own").as_method(ranker)


def _is_ranker(value: Any) -> bool:
    is_object = not isinstance(value, type)
    return is_object and all(hasattr(value, name) for name in ("name", "level", "rank"))


def _explainers(module: str) -> Any:
    """Return a module of the explainers, which are built on this package and found by name."""
    return import_module(f"eigsearch.explainers.{module}")
