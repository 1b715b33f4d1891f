"""Explain many predictions; one that fails does not affect the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from eigsearch.errors import (
    AmbiguousOutputError,
    EigsearchError,
    InputError,
    MissingExtraError,
    ModelError,
)
from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.explanation.failure import FailedExplanation
from eigsearch.inputs.instance import Instance
from eigsearch.pipeline import WINDOW, Explains

_LONGEST_REASON = 500
ON_ERROR = ("raise", "skip")


class Failure(NamedTuple):
    """Why a graph could not be explained, the class of the error, and the error itself."""

    reason: str
    error: type[EigsearchError]
    cause: Exception | None = None


Outcome = SubgraphExplanation | Failure


def check_on_error(on_error: str) -> None:
    """Raise InputError if `on_error` is not a known value."""
    if on_error not in ON_ERROR:
        raise InputError(
            f"Expected `on_error` to be one of {', '.join(ON_ERROR)} (got {on_error!r}). "
            "Choose one of these."
        )


def explain_each(
    pipeline: Explains, instances: Iterable[Instance], on_error: str
) -> Iterator[SubgraphExplanation | FailedExplanation]:
    """Yield an explanation for each instance, in order; those of a window share model calls.

    Where one cannot be explained, `on_error="raise"` raises an error that names it, after all
    explanations before it; `on_error="skip"` yields a `FailedExplanation`.
    """
    start = 0
    for window in _windows(instances):
        for offset, outcome in enumerate(explain_or_fail(pipeline, window)):
            if isinstance(outcome, SubgraphExplanation):
                yield outcome
                continue
            failed = FailedExplanation(
                start + offset,
                outcome.reason,
                window[offset].node,
                outcome.error,
                window[offset].link,
            )
            if on_error == "raise":
                raise failed.to_error() from outcome.cause
            yield failed
        start += len(window)


def explain_or_fail(pipeline: Explains, instances: Sequence[Instance]) -> Iterator[Outcome]:
    """Yield an explanation or a failure per instance; halving finds the one at fault."""
    if not instances:
        return
    try:
        outcomes = pipeline.explain(instances)
    except (MissingExtraError, AmbiguousOutputError):  # about the run, not about a graph
        raise
    except Exception as error:
        if len(instances) == 1:
            yield failure_of(error)
            return
    else:
        yield from outcomes
        return
    middle = len(instances) // 2
    yield from explain_or_fail(pipeline, instances[:middle])
    yield from explain_or_fail(pipeline, instances[middle:])


def failure_of(error: Exception) -> Failure:
    """Return an error as a Failure; errors of other libraries become ModelError."""
    kind = type(error) if isinstance(error, EigsearchError) else ModelError
    return Failure(reason_of(error), kind, error)


def reason_of(error: Exception) -> str:
    """Return an error as one line."""
    text = str(error) if isinstance(error, EigsearchError) else f"{type(error).__name__}: {error}"
    return " ".join(text.split())[:_LONGEST_REASON]


def _windows(instances: Iterable[Instance]) -> Iterator[list[Instance]]:
    """Yield instances in windows; one that cannot be read is raised after those before it."""
    remaining, error = iter(instances), None
    while error is None:
        window: list[Instance] = []
        try:
            while len(window) < WINDOW:
                window.append(next(remaining))
        except StopIteration:
            if not window:
                return
        except Exception as raised:
            error = raised
        yield window
    raise error
