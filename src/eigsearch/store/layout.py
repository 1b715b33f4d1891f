"""Name the files of a results directory."""

from __future__ import annotations

import re
from pathlib import Path

MANIFEST = "manifest.json"
ROWS_FOLDER, LINES_FOLDER, TIMES_FOLDER, CHECKSUMS_FOLDER = "rows", "jsonl", "times", "checksums"
# In the order in which a damaged shard is removed: without rows there is no shard.
FOLDERS = {
    ROWS_FOLDER: "parquet",
    LINES_FOLDER: "jsonl",
    TIMES_FOLDER: "parquet",
    CHECKSUMS_FOLDER: "json",
}
_STEM = re.compile(r"\d{6,}", re.ASCII)


def shard_file(directory: Path, folder: str, number: int) -> Path:
    """Return the path of one file of a shard."""
    return directory / folder / f"{number:06d}.{FOLDERS[folder]}"


def shard_number(file: Path) -> int | None:
    """Return the number of the shard that a file belongs to, None for any other file.

    >>> shard_number(Path("rows/000012.parquet")), shard_number(Path("rows/12.parquet"))
    (12, None)
    """
    if not _STEM.fullmatch(file.stem) or file.stem != f"{int(file.stem):06d}":
        return None
    return int(file.stem)


def row_files(directory: Path) -> dict[int, Path]:
    """Return the Parquet file of each shard, by ascending number."""
    files = {shard_number(file): file for file in (directory / ROWS_FOLDER).glob("*.parquet")}
    return dict(sorted((number, file) for number, file in files.items() if number is not None))
