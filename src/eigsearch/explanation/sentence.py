"""Put an explanation into one sentence, the same in Python, on pages and in the terminal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from eigsearch.explanation.features import counted, features_sentence
from eigsearch.tasks import level_of

if TYPE_CHECKING:
    from eigsearch.explanation.explanation import SubgraphExplanation

# A page fills the same words in for each size, so they stand here once.
SENTENCE = "{output} = {whole}; with these {units} alone {kept}; without them {removed}."
SENTENCE_OF_ONE = "{output} = {whole}; with this {unit} alone {kept}; without it {removed}."

_SMALL = 0.1  # below it, two decimals would say too little about a value with a unit


@dataclass(frozen=True)
class TargetName:
    """The name of the explained output.

    Attributes:
        name: The name of a class, or of what a regression predicts.
        unit: The unit of a regression's values.
        other: The class that it is explained against; "" for all others.
    """

    name: str
    unit: str = ""
    other: str = ""

    @staticmethod
    def of(explanation: SubgraphExplanation) -> TargetName:
        """Return the default name of an output: its number, or "link" and "no link"."""
        if is_regression(explanation):
            return TargetName(f"output {explanation.target}")
        return TargetName.of_class(explanation, class_names(explanation))

    @staticmethod
    def of_class(explanation: Any, class_name: Callable[[int], str]) -> TargetName:
        """Return the names of the explained class, and of the one that it is explained against."""
        other = explanation.config.get("rather_than")
        against = "" if other is None else class_name(other).removeprefix("class ")
        return TargetName(class_name(explanation.target), other=against)

    def number(self, value: float) -> str:
        """Return a value of the output with its unit.

        >>> TargetName("logS", "mol/L").number(-3.214), TargetName("gap", "eV").number(0.00123)
        ('−3.21 mol/L', '0.0012 eV')
        """
        text = decimals(value)
        if self.unit and 0 < abs(value) < _SMALL:
            text = f"{value:.2g}".replace("-", "−")
        return f"{text} {self.unit}" if self.unit else text


def class_names(explanation: SubgraphExplanation) -> Callable[[int], str]:
    """Return a function that names classes by default: by number, or "link" and "no link"."""
    level, outputs = level_of(explanation.anchors), explanation.config.get("num_outputs")
    return lambda index: level.class_name(index, outputs)


def sentence(explanation: SubgraphExplanation, target: TargetName, unit: str) -> str:
    """Return the explanation in one sentence, followed by its note.

    Args:
        explanation: The explanation.
        target: The name of the explained output.
        unit: The singular of what is counted.
    """
    if not explanation.num_groups:
        return explanation.note
    finding = _finding(explanation, target, unit)
    return " ".join(filter(None, [finding, features_sentence(explanation), explanation.note]))


def _finding(explanation: SubgraphExplanation, target: TargetName, unit: str) -> str:
    output, size = output_name(explanation, target), explanation.size
    whole = target.number(explanation.value)
    if not len(explanation.found):
        return f"{output} = {whole}. Size {size} was not evaluated."
    return (SENTENCE_OF_ONE if size == 1 else SENTENCE).format(
        output=output,
        whole=whole,
        units=counted(explanation.edge_size, explanation.feature_size, unit),
        unit="feature" if explanation.feature_size else unit,
        kept=target.number(float(explanation.found.kept)),
        removed=target.number(float(explanation.found.removed)),
    )


def agreement_sentence(explanation: SubgraphExplanation, unit: str) -> str:
    """Return how many equally good answers agree; empty if there is one only.

    Also empty where only the numbering of the graph chose between equal scores: other numberings
    give other answers, which agree on less.
    """
    near = explanation.near_optimal if len(explanation.found) else None
    if near is None or near.count < 2:
        return ""
    least = float(near.share[explanation.keep].min()) if explanation.size else 1.0
    if least * near.count < near.agreeing - 0.5:
        return ""
    counts = explanation.edge_size, explanation.feature_size
    one = "feature" if explanation.feature_size else unit
    chosen = f"this {one}" if explanation.size == 1 else f"these {counted(*counts, unit)}"
    return f"{near.agreeing} of {near.count} equally good answers agree on {chosen}."


def is_regression(explanation: Any) -> bool:
    """Return whether values are explained, and not classes."""
    return explanation.config.get("task") == "regression"


def output_name(explanation: Any, target: TargetName) -> str:
    """Return the name of φ: the probability of a class, or the output of a regression."""
    name, above = target.name, explanation.config.get("above")
    if is_regression(explanation):
        threshold = f" (above {above:g})".replace("-", "−") if above is not None else ""
        return f"{name}{threshold}"
    return f"P({name} rather than {target.other})" if target.other else f"P({name})"


def decimals(value: float) -> str:
    """Return a number with two decimals and a typographic minus, and never −0.00."""
    text = f"{value:.2f}"
    return "0.00" if text == "-0.00" else text.replace("-", "−")
