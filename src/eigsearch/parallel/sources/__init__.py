"""Sources of graphs: memory, or files larger than it."""

from eigsearch.datasets.molecule_files import SmilesSource
from eigsearch.parallel.sources.base import Part, Source
from eigsearch.parallel.sources.database import DatabaseSource
from eigsearch.parallel.sources.files import DirectorySource
from eigsearch.parallel.sources.mapped import MappedSource
from eigsearch.parallel.sources.memory import MemorySource

__all__ = [
    "DatabaseSource",
    "DirectorySource",
    "MappedSource",
    "MemorySource",
    "Part",
    "SmilesSource",
    "Source",
]
