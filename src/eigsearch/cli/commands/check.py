"""`eigsearch check`: whether a results directory is as its run wrote it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eigsearch.cli import flags


def check(
    path: Annotated[Path, typer.Argument(help="What `eigsearch explain --out` wrote.")],
    repair: Annotated[
        bool,
        typer.Option(
            "--repair", help="Remove damaged shards, so that the same run computes them again."
        ),
    ] = False,
    json: flags.AsJson = False,
) -> None:
    """Compare every file of a run with its checksum; exit with 1 where one differs.

    [bold]Examples[/bold]

        eigsearch check results

        eigsearch check results --repair
    """
    from eigsearch import store
    from eigsearch.cli.console import print_json, print_line

    directory = store.ResultDirectory(path)
    reader = directory.reader()
    damages = list(reader.damages())
    removed = directory.repair() if repair and damages else []
    finished = len(directory.row_files())
    if json:
        files = [{"path": str(damage.path), "found": damage.found} for damage in damages]
        counts = {"shards": reader.manifest.shards, "finished": finished, "removed": removed}
        print_json({"damaged": files, **counts})
    else:
        for damage in damages:
            print_line(f"{damage.path}: {damage.found}")
        print_line(
            f"{path}: {finished} of {reader.manifest.shards} shards, {_count(len(damages))}."
        )
        for advice in _advice(path, len(damages), removed, reader.manifest.shards - finished):
            print_line(advice)
    if damages:
        raise typer.Exit(1)


def _advice(path: Path, damaged: int, removed: list[int], missing: int) -> list[str]:
    """Return what to do about damaged files and missing shards, a sentence each."""
    if damaged and not removed:
        return [
            f"Run `eigsearch check {path} --repair` to remove what is damaged; move away files "
            "that no run wrote."
        ]
    repeat = "Repeat the command that wrote the directory to compute the shards that are missing."
    return [repeat] if missing else []


def _count(damaged: int) -> str:
    """Return the number of damaged files as text.

    >>> _count(0), _count(1)
    ('no damaged file', '1 damaged file')
    """
    return f"{damaged or 'no'} damaged file{'s' if damaged > 1 else ''}"
