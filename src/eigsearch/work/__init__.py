"""Work at scale: shards of predictions in, rows out, on one core, many, or a Ray cluster."""

from eigsearch.work.backends import Job, perform
from eigsearch.work.explain_to import Progress, explain_to
from eigsearch.work.sources import MemorySource, Source

__all__ = ["Job", "MemorySource", "Progress", "Source", "explain_to", "perform"]
