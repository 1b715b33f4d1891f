"""Notes: what a user should know about an explanation that its numbers do not say loudly."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eigsearch.search import Curve

_LITTLE = 0.1  # of a probability: what counts as lost, or as not reached
_LOW_GAIN = 0.3  # below which an explanation is not both enough and needed


def note_on_gain(found: Curve, curve: Curve, task: str, search: str) -> str:
    """Return which half of "enough alone, lost without" fails, and what may help.

    Args:
        found: The chosen subgraph.
        curve: All sizes that were evaluated.
        task: The task, in PyG's words.
        search: The name of the search that chose it.
    """
    if not len(found):
        return ""
    gain = float(found.gain)
    if task == "regression":
        return _note_on_regression(gain, search)
    if gain >= _LOW_GAIN:
        return ""
    plus, minus = float(found.fidelity_plus), float(found.fidelity_minus)
    if plus < _LITTLE and float(curve.fidelity_plus.max()) < _LITTLE:
        return (
            "The prediction stays whatever is removed, as for a class that the model answers "
            "without evidence; target= explains another class."
        )
    half = "enough but not needed" if plus < _LITTLE else "not enough alone"
    if plus >= _LITTLE and minus < _LITTLE:
        half = "only partly needed"
    return f"These edges are {half} (gain {gain:.2f}).{_advice(search)}"


def _note_on_regression(gain: float, search: str) -> str:
    if gain >= 0:
        return ""
    return (
        f"The rest of the graph is closer to the value than these edges are (gain {gain:.2g})."
        f"{_advice(search)}"
    )


def _advice(search: str) -> str:
    deeper = search in ("sweep", "resweep", "fixed", "None")
    return " search='refine' looks further." if deeper else ""
