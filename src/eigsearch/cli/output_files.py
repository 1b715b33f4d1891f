"""Write pages and pictures of explanations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from eigsearch._utils.atomic_files import write_atomic
from eigsearch.cli.directories import check_directory
from eigsearch.cli.progress import status_line
from eigsearch.errors import InputError, MissingExtraError
from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.store import Row
from eigsearch.visualization import Names, comparison_page, gallery_page, save_figure, save_grid

_SUFFIXES = (".html", ".svg", ".png", ".pdf", ".json", ".graphml", ".cyjs")
_GRID = (".svg", ".png", ".pdf")
_TABLES = (".csv", ".tsv", ".xlsx", ".parquet")


def check_outputs(directory: Path | None, page: Path | None, count: int) -> None:
    """Raise InputError if the rows, or a page of `count` explanations, cannot be written."""
    if directory is not None:
        check_directory(directory)
    if page is not None:
        _check_suffix(page, count)
        check_directory(page.parent)


def check_comparison(page: Path) -> None:
    """Raise InputError if the page of a comparison cannot be written."""
    if page.suffix != ".html":
        raise InputError(
            f"Expected the page of a comparison to end in .html (got {page.name!r}). "
            "Choose another suffix."
        )
    check_directory(page.parent)


def write_page(
    explanations: Iterable[SubgraphExplanation], path: Path, names: Names, rows: Iterable[Row]
) -> Path:
    """Write a gallery, a grid, or the page or picture of a single explanation; return the path.

    `rows` are those of the run, failed ones included; they hold the numbers of the graphs.
    """
    found = list(explanations)
    if len(found) == 1:
        path.parent.mkdir(parents=True, exist_ok=True)
        return found[0].save(path, names)
    _check_suffix(path, len(found))
    if path.suffix in _GRID:
        return save_grid(found, path, names)
    numbers = [row["index"] for row in rows if not row["error"]]
    with status_line(f"Drawing {len(found):,} explanations and counting recurring motifs …"):
        return _write(path, gallery_page(found, names, numbers))


def is_table(path: Path) -> bool:
    """Return whether a file of this name is a table."""
    return path.suffix in _TABLES


def is_directory(path: Path) -> bool:
    """Return whether a name without a suffix, or a directory that is there, takes many pages."""
    return path.is_dir() or not path.suffix


def write_pages(
    explanations: Sequence[SubgraphExplanation], directory: Path, names: Names, rows: Iterable[Row]
) -> Path:
    """Write one page per explanation into a directory, named by graph or node; return it."""
    check_directory(directory)
    directory.mkdir(parents=True, exist_ok=True)
    keys = [(row["index"], row["node"]) for row in rows if not row["error"]]
    for explanation, (index, node) in zip(explanations, keys, strict=True):
        name = f"graph-{index:06d}" if node is None else f"node-{node:06d}"
        explanation.save(directory / f"{name}.html", names)
    return directory


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


def _check_suffix(path: Path, count: int) -> None:
    if path.suffix not in _SUFFIXES:
        raise InputError(
            f"Expected a page that ends in one of {', '.join(_SUFFIXES)} (got {path.name!r}). "
            "Choose another suffix."
        )
    if path.suffix not in (".html", *_GRID) and count != 1:
        raise InputError(
            f"Expected one explanation for a {path.suffix} file (got {count}). "
            "Choose one with --index or --node, or write a page (.html) or a grid (.svg, .pdf)."
        )


def _write(path: Path, page: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, page.encode())
    return path
