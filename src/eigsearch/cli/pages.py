"""Pages with pictures of explanations."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from eigsearch.explanation import SubgraphExplanation
from eigsearch.report.gallery import gallery_page
from eigsearch.report.names import Names
from eigsearch.store.atomic import write_atomic

_PICTURES = 100  # a page with more is slow to open and to read


def write_page(explanations: Iterable[SubgraphExplanation], path: Path, names: Names) -> Path:
    """Write a page with the first explanations; return its path."""
    page = gallery_page(islice(explanations, _PICTURES), names)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, page.encode())
    return path
