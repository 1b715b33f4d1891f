"""The incremental engine: a model's work on the distinct states of all candidates, once each."""

from eigsearch.engines.incremental.engine import IncrementalEngine, expected_rows
from eigsearch.engines.incremental.errors import NotServed

__all__ = ["IncrementalEngine", "NotServed", "expected_rows"]
