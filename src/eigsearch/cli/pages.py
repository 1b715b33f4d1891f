"""Pages with pictures of explanations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from eigsearch.errors import InputError, MissingExtraError
from eigsearch.explanation import SubgraphExplanation
from eigsearch.report import Names, comparison_page, gallery_page, save_figure
from eigsearch.store.atomic import write_atomic


def write_page(explanations: Iterable[SubgraphExplanation], path: Path, names: Names) -> Path:
    """Write a gallery, or of one explanation its page or picture by suffix; return the path."""
    found = list(explanations)
    if len(found) == 1:
        path.parent.mkdir(parents=True, exist_ok=True)
        return found[0].save(path, names)
    if path.suffix != ".html":
        raise InputError(
            f"Expected one explanation for a {path.suffix or 'plain'} file (got {len(found)}). "
            "Choose one with --index, or write a .html page of all."
        )
    return _write(path, gallery_page(found, names))


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
