"""Explanations on disk: rows written once and read back as explanations."""

from eigsearch.store.directory import ResultDirectory, ShardFiles
from eigsearch.store.manifest import Manifest, read_manifest
from eigsearch.store.reader import read, rows
from eigsearch.store.rows import Row, RowKey, explanation_of
from eigsearch.store.summary import MEANS, summarize
from eigsearch.store.summary_table import summary_table
from eigsearch.store.writer import Writer

Subject = RowKey  # the name until 0.1

__all__ = [
    "MEANS",
    "Manifest",
    "ResultDirectory",
    "Row",
    "RowKey",
    "ShardFiles",
    "Subject",
    "Writer",
    "explanation_of",
    "read",
    "read_manifest",
    "rows",
    "summarize",
    "summary_table",
]
