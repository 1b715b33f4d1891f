"""Compare scores and masks with ground truth: AUC, average precision, precision, recall.

Every number depends on what it is computed over (a computation graph, the whole graph, a motif and
its surroundings), so the entries that are judged have to be given, as the mask `candidates`.
Vectors may be aligned with directed edges, with groups or with nodes, as long as all of one call
agree. Where a number is undefined, because judged entries are all true or all false, it is NaN.
"""

from __future__ import annotations

from sklearn.metrics import average_precision_score, roc_auc_score
from torch import Tensor

from eigsearch.errors import InputError
from eigsearch.metrics.mask import as_bool


def auc(score: Tensor, truth: Tensor, candidates: Tensor) -> float:
    """Return the area under the ROC curve over the judged entries; higher is better."""
    score, truth = _judged(candidates, score, truth)
    return float(roc_auc_score(truth, score)) if _both_kinds(truth) else float("nan")


def average_precision(score: Tensor, truth: Tensor, candidates: Tensor) -> float:
    """Return the average precision over the judged entries; higher is better."""
    score, truth = _judged(candidates, score, truth)
    return float(average_precision_score(truth, score)) if _both_kinds(truth) else float("nan")


def precision_at_k(score: Tensor, truth: Tensor, candidates: Tensor, k: int | None = None) -> float:
    """Return the share of true entries among the k best judged ones; higher is better.

    Without `k` it is the number of true ones, where precision equals recall. Ties at the cut are
    counted as their expectation, so that the order of the graph does not matter.
    """
    score, truth = _judged(candidates, score, truth)
    k = int(truth.sum()) if k is None else k
    if not 0 < k <= score.numel():
        return float("nan")
    cut = score.topk(k).values[-1]
    above, level = score > cut, score == cut
    share = (k - int(above.sum())) / int(level.sum())
    return (int(truth[above].sum()) + share * int(truth[level].sum())) / k


def precision(mask: Tensor, truth: Tensor, candidates: Tensor) -> float:
    """Return the share of the chosen judged entries that are true; NaN where none is chosen."""
    mask, truth = _judged(candidates, as_bool(mask), truth)
    return int((mask & truth).sum()) / int(mask.sum()) if bool(mask.any()) else float("nan")


def recall(mask: Tensor, truth: Tensor, candidates: Tensor) -> float:
    """Return the share of the true judged entries that are chosen; NaN where none is true."""
    mask, truth = _judged(candidates, as_bool(mask), truth)
    return int((mask & truth).sum()) / int(truth.sum()) if bool(truth.any()) else float("nan")


def _judged(candidates: Tensor, values: Tensor, truth: Tensor) -> tuple[Tensor, Tensor]:
    """Return values and truth of the judged entries alone."""
    if not values.shape == truth.shape == candidates.shape:
        raise InputError(
            "Expected explanation, truth and `candidates` to be aligned (got shapes "
            f"{list(values.shape)}, {list(truth.shape)} and {list(candidates.shape)}). "
            "Give each an entry per edge, per group or per node."
        )
    where = as_bool(candidates).cpu()
    return values.detach().cpu()[where], as_bool(truth).cpu()[where]


def _both_kinds(truth: Tensor) -> bool:
    return bool(truth.any()) and not bool(truth.all())
