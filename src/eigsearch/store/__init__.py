"""Results on disk: rows that are written once and read back as explanations."""

from eigsearch.store.directory import ResultDirectory, ShardFiles
from eigsearch.store.manifest import Manifest, read_manifest
from eigsearch.store.reader import read, rows
from eigsearch.store.rows import Row, Subject, explanation_of
from eigsearch.store.summary import summarize
from eigsearch.store.writer import Writer

__all__ = [
    "Manifest",
    "ResultDirectory",
    "Row",
    "ShardFiles",
    "Subject",
    "Writer",
    "explanation_of",
    "read",
    "read_manifest",
    "rows",
    "summarize",
]
