"""Explanations on disk: rows written once and read back as explanations."""

import sys

from eigsearch.store import reader
from eigsearch.store.directory import ResultDirectory, ShardFiles
from eigsearch.store.manifest import Manifest, read_manifest
from eigsearch.store.reader import read, rows
from eigsearch.store.rows import Row, RowKey, explanation_of
from eigsearch.store.summary import MEANS, summarize
from eigsearch.store.summary_table import summary_table
from eigsearch.store.writer import Writer

Subject = RowKey  # the name until 0.1
# The module's name until 0.1; if Python had to look for it, it would replace the function `read`.
sys.modules["eigsearch.store.read"] = reader

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
