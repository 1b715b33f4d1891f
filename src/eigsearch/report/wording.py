"""Wording: the sentences that tell an explanation with the names that a reader knows."""

from __future__ import annotations

from eigsearch.explanation import SubgraphExplanation
from eigsearch.report.names import Names, output_name
from eigsearch.search.curve import gain_rounding

# The page fills the same words in for each size, so they stand here once.
SENTENCE = "{output} = {whole}; with these {size} {unit} alone {kept}; without them {removed}."
SENTENCE_OF_ONE = "{output} = {whole}; with this {unit} alone {kept}; without it {removed}."


def sentence(explanation: SubgraphExplanation, names: Names, unit: str) -> str:
    """Return the explanation in one sentence; `unit` is the singular of what is counted."""
    if explanation.note:
        return explanation.note
    if not len(explanation.found):
        return f"{output_name(explanation, names)} = {_decimals(explanation.value)}."
    single = explanation.size == 1
    return (SENTENCE_OF_ONE if single else SENTENCE).format(
        output=output_name(explanation, names),
        whole=_decimals(explanation.value),
        size=explanation.size,
        unit=unit if single else f"{unit}s",
        kept=_decimals(float(explanation.found.kept)),
        removed=_decimals(float(explanation.found.removed)),
    )


def reason(explanation: SubgraphExplanation) -> str:
    """Return in one sentence why the explanation has the size that it has."""
    if explanation.note or not len(explanation.curve):
        return ""
    curve = explanation.curve
    sizes, gain = curve.size, curve.gain
    if len(sizes) == 1:
        return f"Size {int(sizes)} is the only one that was evaluated."
    search, best = explanation.config.get("search"), curve.best
    if search != "sweep":
        cut = f"{_decimals(float(gain[best]))} at size {int(sizes[best])}"
        found = f"Found by {search or 'a search'}, with a gain of {_decimals(explanation.gain)}"
        return f"{found}; the best cut of the ranking has {cut}."
    near = gain_rounding(curve.kept.numpy(), curve.removed.numpy())
    tied = int((gain >= gain.max() - near).sum()) > 1
    highest = _decimals(explanation.gain)
    plus, minus = _decimals(explanation.fidelity_plus), _signed(explanation.fidelity_minus)
    return (
        f"Chosen because Fidelity+ {plus} − Fidelity− {minus} = {highest} is the "
        f"highest gain of the {len(sizes)} sizes tried, from {int(sizes[0])} to {int(sizes[-1])}"
        + (", and the smallest size that reaches it." if tied else ".")
    )


def _signed(value: float) -> str:
    text = _decimals(value)
    return f"({text})" if text.startswith("−") else text


def _decimals(value: float) -> str:
    text = f"{value:.2f}"
    return "0.00" if text == "-0.00" else text.replace("-", "−")
