"""Put an explanation into sentences with the names of the data set."""

from __future__ import annotations

from eigsearch._utils.tolerances import gain_rounding
from eigsearch.counterfactual.explanation import FlipExplanation
from eigsearch.counterfactual.sentence import flip_sentence
from eigsearch.explanation import sentence as sentences
from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.explanation.sentence import decimals
from eigsearch.visualization.labels import Names


def sentence(explanation: SubgraphExplanation, names: Names, unit: str) -> str:
    """Return the explanation in one sentence; `unit` is the singular of what is counted."""
    if isinstance(explanation, FlipExplanation):
        return flip_sentence(explanation, lambda i: names.class_of(explanation, i), unit)
    return sentences.sentence(explanation, names.target_name(explanation), unit)


def reason(explanation: SubgraphExplanation, unit: str = "edge") -> str:
    """Return one sentence on why the explanation has its size, in units of what is counted."""
    if isinstance(explanation, FlipExplanation):
        return _reason_of_flip(explanation, unit)
    if not len(explanation.curve):
        return ""
    curve = explanation.curve
    sizes, gain = curve.size, curve.gain
    if len(sizes) == 1:
        return f"Size {int(sizes)} is the only one that was evaluated."
    search, best = explanation.config.get("search"), curve.best
    if search != "sweep":
        cut = f"{decimals(float(gain[best]))} at size {int(sizes[best])}"
        found = f"Found by {search or 'a search'}, with a gain of {decimals(explanation.gain)}"
        return f"{found}; the best cut of the ranking has {cut}."
    tolerance = gain_rounding(curve.kept.numpy(), curve.removed.numpy())
    tied = int((gain >= gain.max() - tolerance).sum()) > 1
    highest = decimals(explanation.gain)
    plus, minus = decimals(explanation.fidelity_plus), _signed(explanation.fidelity_minus)
    return (
        f"Chosen because Fidelity+ {plus} − Fidelity− {minus} = {highest} is the "
        f"highest gain of the {len(sizes)} sizes tried, from {int(sizes[0])} to {int(sizes[-1])}"
        + (", and the smallest size that reaches it." if tied else ".")
    )


def _reason_of_flip(answer: FlipExplanation, unit: str) -> str:
    """Return which changes were looked at."""
    most, additions = answer.config.get("max_size"), answer.additions
    kinds = f"could be removed and {additions} added" if additions else "could be removed"
    return f"{answer.num_groups} {unit}s {kinds}, at most {most} together; all nodes stay."


def _signed(value: float) -> str:
    text = decimals(value)
    return f"({text})" if text.startswith("−") else text
