"""The incremental engine: a model's work on the distinct states of all candidates, once each."""

from eigsearch.engine.incremental.engine import IncrementalEngine, expected_rows
from eigsearch.engine.incremental.scene import Unservable

__all__ = ["IncrementalEngine", "Unservable", "expected_rows"]
