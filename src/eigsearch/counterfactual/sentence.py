"""Put a counterfactual into one sentence, the same in Python and on pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from eigsearch.explanation.sentence import TargetName, decimals, is_regression, output_name

if TYPE_CHECKING:
    from eigsearch.counterfactual.explanation import FlipExplanation


def flip_sentence(answer: FlipExplanation, class_name: Callable[[int], str], unit: str) -> str:
    """Return a sentence about the change, its note, and the number of other answers.

    Args:
        answer: The explanation.
        class_name: Returns what a class is called.
        unit: The singular of what is counted.
    """
    if not answer.flipped:
        return answer.note
    more = f"{len(answer.others)} other answers." if len(answer.others) > 1 else "1 other answer."
    parts = [_finding(answer, class_name, unit), answer.note, more if answer.others else ""]
    return " ".join(filter(None, parts))


def _finding(answer: FlipExplanation, class_name: Callable[[int], str], unit: str) -> str:
    removed, added = int(answer.keep.sum()), answer.added.size(1)
    parts = [f"without {_count(removed, unit)}"] if removed else []
    parts += [f"with {_count(added, unit)} more"] if added else []
    regression = is_regression(answer)
    target = TargetName.of(answer) if regression else TargetName(class_name(answer.target))
    output, before = output_name(answer, target), decimals(answer.value)
    values = f"{output} = {before}; {' and '.join(parts)} {decimals(answer.value_after)}"
    if regression:
        return f"{values}{_side(answer)}."
    if answer.prediction_after is None:
        return f"{values}."
    return f"{values}, and {_prediction(answer, class_name)}."


def _prediction(answer: FlipExplanation, class_name: Callable[[int], str]) -> str:
    """Return what is predicted after the change; of several labels, whether this one still is."""
    if has_several_labels(answer):
        label, is_predicted = class_name(answer.target), answer.value_after > answer.value
        return f"{label} is predicted" if is_predicted else f"{label} is no longer predicted"
    assert answer.prediction_after is not None
    return f"the prediction is {class_name(int(answer.prediction_after))}"


def has_several_labels(answer: FlipExplanation) -> bool:
    """Return whether the model predicts labels that do not exclude each other."""
    task, outputs = answer.config.get("task"), answer.config.get("num_outputs", 1)
    return task == "binary_classification" and outputs > 1


def _side(answer: FlipExplanation) -> str:
    """Return on which side of the value that a regression was to cross it is now."""
    to = answer.config.get("to")
    if to is None or to == answer.value_after:
        return ""
    text = f"{to:g}".replace("-", "−")
    return f", {'above' if answer.value_after > to else 'below'} {text}"


def _count(number: int, unit: str) -> str:
    return f"one {unit}" if number == 1 else f"{number} {unit}s"
