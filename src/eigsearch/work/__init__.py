"""Work at scale: shards of predictions in, rows out, on one core, many, or a Ray cluster."""

from eigsearch.work.backends import Job, perform
from eigsearch.work.explain_many import explain_many
from eigsearch.work.explain_to import Progress, explain_to
from eigsearch.work.sources import (
    DatabaseSource,
    DirectorySource,
    MappedSource,
    MemorySource,
    SmilesSource,
    Source,
)

__all__ = [
    "DatabaseSource",
    "DirectorySource",
    "Job",
    "MappedSource",
    "MemorySource",
    "Progress",
    "SmilesSource",
    "Source",
    "explain_many",
    "explain_to",
    "perform",
]
