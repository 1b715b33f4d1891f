"""Pages with pictures of explanations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path

from eigsearch.errors import MissingExtraError
from eigsearch.explanation import SubgraphExplanation
from eigsearch.report import Names, comparison_page, gallery_page, save_figure
from eigsearch.store.atomic import write_atomic

_ON_A_PAGE = 100  # a page with more is slow to open and to read


def write_page(explanations: Iterable[SubgraphExplanation], path: Path, names: Names) -> Path:
    """Write a page with the first explanations; return its path."""
    return _write(path, gallery_page(islice(explanations, _ON_A_PAGE), names))


def write_comparison(
    explanations: Mapping[str, SubgraphExplanation], path: Path, names: Names
) -> Path:
    """Write a page that shows one prediction through several explainers; return its path."""
    return _write(path, comparison_page(explanations, names))


def write_pictures(
    explanations: Mapping[str, SubgraphExplanation], directory: Path, names: Names
) -> list[Path]:
    """Write one SVG per explanation under its name; none without the package that draws them."""
    directory.mkdir(parents=True, exist_ok=True)
    with suppress(MissingExtraError):
        return [
            save_figure(explanation, directory / f"{name}.svg", names)
            for name, explanation in explanations.items()
        ]
    return []


def _write(path: Path, page: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, page.encode())
    return path
