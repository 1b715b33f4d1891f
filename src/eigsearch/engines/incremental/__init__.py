"""The incremental engine: computes each distinct state of all candidates once."""

from eigsearch.engines.incremental.engine import IncrementalEngine
from eigsearch.engines.incremental.errors import NotServed
from eigsearch.engines.incremental.packing import expected_rows

__all__ = ["IncrementalEngine", "NotServed", "expected_rows"]
