"""One case from its number to a verdict."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass, field

from benchmarks.fuzz.cases import Case, draw_case
from benchmarks.fuzz.promises import (
    ALWAYS,
    SOMETIMES,
    WITHOUT_NUMBERS,
    fingerprint,
    nothing_is_changed,
)
from benchmarks.fuzz.same import Broken, promise
from benchmarks.fuzz.spoil import is_sentence, spoiled
from eigsearch.errors import EigsearchError, ModelError

_SPOILED = 0.04  # the share of cases that have to be refused


@dataclass
class Tally:
    """What was checked so far."""

    graphs: int = 0
    cases: int = 0
    explanations: int = 0
    checks: Counter[str] = field(default_factory=Counter)


def check_case(seed: int, number: int, tally: Tally, promises: int = 1) -> None:
    """Draw a case and check it; raises whatever goes wrong."""
    case = draw_case(seed, number)
    tally.cases += 1
    tally.graphs += len(case.graphs)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # such as engines that do not agree
        warnings.filterwarnings("ignore", category=FutureWarning)
        # Wild numbers may overflow in the model before anybody looks at the graph that is spoiled.
        if case.dice.chance(_SPOILED) and case.scale != "extreme":
            check_refusal(*spoiled(case))
            tally.checks["refused"] += 1
        else:
            check_answers(case, tally, promises)


def check_refusal(case: Case, word: str) -> None:
    """Fail unless the case is refused with one sentence that has the word."""
    try:
        case.answers()
    except EigsearchError as error:
        promise(is_sentence(error), f"one sentence: {error}")
        promise(word in str(error), f"a refusal that says {word}: {error}")
    else:
        raise Broken(f"a refusal that says {word}")


def check_answers(case: Case, tally: Tally, promises: int) -> None:
    """Fail where an answer breaks a promise."""
    before = fingerprint(case)
    try:
        answers = case.answers()
    except ModelError as error:  # overflow is the model's, and is told in one sentence
        promise(case.scale == "extreme" and "finite" in str(error), f"an answer: {error}")
        promise(is_sentence(error), f"one sentence: {error}")
        tally.checks["overflow"] += 1
        return
    nothing_is_changed(before, case)
    tally.explanations += len(answers)
    for check in ALWAYS:
        check(case, answers)
    wild = case.scale == "extreme" or (case.scale == "wide" and case.single)
    possible = WITHOUT_NUMBERS if wild else SOMETIMES
    for check in case.dice.some(possible, promises):
        check(case, answers)
        tally.checks[check.__name__] += 1
    tally.checks.update(case.notes)
