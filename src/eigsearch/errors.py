"""The one exception family: every message is a sentence that says what to do.

The pattern is *Expected `<thing>` to be `<requirement>` (got `<value>`). `<What to do>`.*
"""

from __future__ import annotations


class EigsearchError(Exception):
    """The base class of all errors that eigsearch raises."""


class InputError(EigsearchError, ValueError):
    """An argument, a graph or a file is invalid."""


class AmbiguousOutputError(InputError):
    """A model's output allows two readings; the message names the options that decide."""


class MemoryBudgetError(InputError):
    """`max_memory` is too small; the message names the smallest budget that works."""

    def __init__(self, message: str, smallest: int = 0) -> None:
        super().__init__(message)
        self.smallest = smallest


class ModelError(EigsearchError, RuntimeError):
    """The model does something that makes an explanation meaningless."""


class UnsupportedError(EigsearchError, NotImplementedError):
    """The request is valid but not supported."""


class MissingExtraError(EigsearchError, ImportError):
    """An optional package is needed; the message names the extra that brings it."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        self._about = package, extra, purpose
        super().__init__(
            f"Expected the package `{package}` to be installed to {purpose} (got none). "
            f'Run: pip install "eigsearch[{extra}]".'
        )

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str, str]]:
        return type(self), self._about  # an exception travels by its arguments, not its message
