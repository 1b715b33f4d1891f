"""Where the graphs of a run come from: memory, or files that are larger than it."""

from eigsearch.work.sources.base import Part, Source
from eigsearch.work.sources.database import DatabaseSource
from eigsearch.work.sources.files import DirectorySource
from eigsearch.work.sources.mapped import MappedSource
from eigsearch.work.sources.memory import MemorySource
from eigsearch.work.sources.smiles import SmilesSource

__all__ = [
    "DatabaseSource",
    "DirectorySource",
    "MappedSource",
    "MemorySource",
    "Part",
    "SmilesSource",
    "Source",
]
