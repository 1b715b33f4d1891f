"""Notes: sentences that point out what the numbers of an explanation show only indirectly."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    from eigsearch.inputs.instance import PreparedInstance
    from eigsearch.ranking.ranking import Ranking
    from eigsearch.search import Curve

_LITTLE = 0.1  # a loss of this much probability counts as a failure
_LOW_GAIN = 0.3  # explanations with less gain get a note


def note_on_gain(
    found: Curve,
    curve: Curve,
    task: str,
    search: str,
    unit: str = "edge",
    above: float | None = None,
) -> str:
    """Return which half of "enough alone, lost without" fails, and what may help.

    Args:
        found: The chosen subgraph.
        curve: All sizes that were evaluated.
        task: The task, in PyG's words.
        search: The name of the search that chose it.
        unit: The singular of what is counted.
        above: The value that a regressed one is explained to be above, or None.
    """
    if not len(found):
        return ""
    gain = float(found.gain)
    if task == "regression":
        return _note_on_regression(gain, search, unit, above)
    if gain >= _LOW_GAIN:
        return ""
    most = max(int(curve.size.max()), int(found.size.max())) if len(curve) else int(found.size)
    limit = f"{most} {unit}" if most == 1 else f"{most} {unit}s"
    plus, minus = float(found.fidelity_plus), float(found.fidelity_minus)
    full = float(found.kept) + minus
    if full < _LITTLE:
        return (
            f"The model gives the explained class a probability of {full:.2f} with all edges, so "
            "that there is little to lose; target= explains another class."
        )
    if plus < _LITTLE and float(curve.fidelity_plus.max()) < _LITTLE:
        return (
            f"The prediction stays whatever is removed (up to {limit}), as for a class that the "
            "model answers without evidence; target= explains another class."
        )
    said = _typographic(f"{gain:.2f}")
    return (
        f"Of those tried, no subgraph of at most {limit} is both enough and needed "
        f"(gain {said}): this one is {_failing_half(plus, minus)}{_advice(search)}"
    )


def _failing_half(plus: float, minus: float) -> str:
    if plus < _LITTLE:
        return "enough but not needed"
    return "only partly needed" if minus < _LITTLE else "not enough alone"


def note_on_ties(ranking: Ranking, keep: Tensor, search: str, unit: str = "edge") -> str:
    """Return a note if a cut of a ranking was chosen in which all groups score the same."""
    chosen = int(keep.sum())
    cut = search in ("sweep", "fixed", "None") and len(ranking.cuts) == 1
    if not cut or not 0 < chosen < ranking.count:
        return ""
    return f"All {unit}s have the same score, so that only their numbering chose these."


def note_on_link(instance: PreparedInstance, keep: Tensor) -> str:
    """Return a note if the explanation of a link contains the link itself."""
    if not holds_link(instance, keep):
        return ""
    return (
        "Among these edges is the link itself; target_link='drop' explains what predicts it "
        "without."
    )


def holds_link(instance: PreparedInstance, keep: Tensor) -> bool:
    """Return whether groups of edges contain the link that is explained."""
    if len(instance.anchors) != 2:
        return False
    one, other = instance.anchors
    source, target, group = instance.edge_arrays
    forth = (source == one) & (target == other)
    own = group[forth | ((source == other) & (target == one))]
    return bool(keep.cpu().numpy()[own[own >= 0]].any())


def _note_on_regression(gain: float, search: str, unit: str, above: float | None) -> str:
    if gain >= 0:
        return ""
    near, high = f"is closer to the value than these {unit}s are", "gives a higher value than these"
    rest = near if above is None else f"{high} {unit}s do"
    return f"The rest of the graph {rest} (gain {_typographic(f'{gain:.2g}')}){_advice(search)}"


def _typographic(number: str) -> str:
    return number.replace("-", "−")


def _advice(search: str) -> str:
    deeper = search in ("sweep", "resweep", "fixed", "None")
    return "; search='refine' looks further." if deeper else "."
