"""Where the graphs of a run come from: memory, or files that are larger than it."""

from eigsearch.work.sources.base import Part, Source
from eigsearch.work.sources.memory import MemorySource

__all__ = ["MemorySource", "Part", "Source"]
