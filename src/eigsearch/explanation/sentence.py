"""Wording: an explanation in one sentence, the same in Python, on pages and in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eigsearch.explanation.features import counted, features_sentence

if TYPE_CHECKING:
    from eigsearch.explanation.explanation import SubgraphExplanation

# A page fills the same words in for each size, so they stand here once.
SENTENCE = "{output} = {whole}; with these {units} alone {kept}; without them {removed}."
SENTENCE_OF_ONE = "{output} = {whole}; with this {unit} alone {kept}; without it {removed}."


def sentence(explanation: SubgraphExplanation, class_name: str, unit: str) -> str:
    """Return the explanation in one sentence, followed by its note.

    Args:
        explanation: The explanation.
        class_name: What the explained class is called.
        unit: The singular of what is counted.
    """
    if not explanation.num_groups:
        return explanation.note
    finding = _finding(explanation, class_name, unit)
    return " ".join(filter(None, [finding, features_sentence(explanation), explanation.note]))


def _finding(explanation: SubgraphExplanation, class_name: str, unit: str) -> str:
    output, size = output_name(explanation, class_name), explanation.size
    whole = decimals(explanation.value)
    if not len(explanation.found):
        return f"{output} = {whole}. Size {size} was not evaluated."
    return (SENTENCE_OF_ONE if size == 1 else SENTENCE).format(
        output=output,
        whole=whole,
        units=counted(explanation.edge_size, explanation.feature_size, unit),
        unit="feature" if explanation.feature_size else unit,
        kept=decimals(float(explanation.found.kept)),
        removed=decimals(float(explanation.found.removed)),
    )


def agreement_sentence(explanation: SubgraphExplanation, unit: str) -> str:
    """Return how many equally good answers agree; empty if there is one only."""
    near = explanation.near_optimal if len(explanation.found) else None
    if near is None or near.count < 2:
        return ""
    counts = explanation.edge_size, explanation.feature_size
    one = "feature" if explanation.feature_size else unit
    chosen = f"this {one}" if explanation.size == 1 else f"these {counted(*counts, unit)}"
    return f"{near.agreeing} of {near.count} equally good answers agree on {chosen}."


def output_name(explanation: SubgraphExplanation, class_name: str) -> str:
    """Return what φ is called: the probability of a class, or an output of a regression."""
    if explanation.config.get("task") == "regression":
        return f"output {explanation.target}"
    other = explanation.config.get("rather_than")
    return f"P({class_name})" if other is None else f"P({class_name} rather than {other})"


def decimals(value: float) -> str:
    """Return a number as sentences have it: two decimals, a minus of its own, and no −0.00."""
    text = f"{value:.2f}"
    return "0.00" if text == "-0.00" else text.replace("-", "−")
