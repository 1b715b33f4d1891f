"""Explain many predictions in one process, in several, or on a Ray cluster."""

from eigsearch.parallel.backend import Job, perform
from eigsearch.parallel.run_in_order import explain_many
from eigsearch.parallel.run_to_directory import Progress, explain_to
from eigsearch.parallel.sources import (
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
