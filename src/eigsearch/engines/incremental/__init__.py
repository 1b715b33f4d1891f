"""The incremental engine: a model's work on the distinct states of all candidates, once each."""

from eigsearch.engines.incremental.engine import IncrementalEngine
from eigsearch.engines.incremental.errors import NotServed
from eigsearch.engines.incremental.packing import expected_rows

__all__ = ["IncrementalEngine", "NotServed", "expected_rows"]
