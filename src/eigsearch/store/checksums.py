"""Checksums of a shard's files, bound to the run and the number of the shard."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from eigsearch.errors import InputError


@dataclass(frozen=True)
class ShardChecksums:
    """The SHA-256 of each file of a shard.

    Attributes:
        run: The key of the run's manifest: a shard of another run is foreign.
        shard: The number of the shard: a copy under another number is a duplicate.
        files: The SHA-256 of each file, by the name of its folder.
    """

    run: str
    shard: int
    files: dict[str, str]

    def to_json(self) -> bytes:
        """Return the checksums as the bytes of their file."""
        return json.dumps(asdict(self), sort_keys=True).encode() + b"\n"


def checksums_of(run: str, shard: int, files: Mapping[str, bytes]) -> ShardChecksums:
    """Return the checksums of the files of a shard."""
    return ShardChecksums(run, shard, {name: _sha256(content) for name, content in files.items()})


def mismatch(expected: bytes | None, found: ShardChecksums) -> str | None:
    """Return how files differ from the checksums that their run wrote, or None.

    Args:
        expected: The content of the file of checksums, None if there is none.
        found: The checksums of the files as they are, of all or of some of them.
    """
    try:
        written = _from_json(expected)
    except InputError as error:
        return str(error)
    if written.run != found.run:
        return "a shard of another run"
    if written.shard != found.shard:
        return f"a copy of shard {written.shard}"
    wrong = [name for name, digest in found.files.items() if written.files.get(name) != digest]
    return "other bytes than its run wrote" if wrong else None


def _from_json(content: bytes | None) -> ShardChecksums:
    if content is None:
        raise InputError("no checksum of it")
    try:
        values = json.loads(content)
        written = ShardChecksums(**values)
    except (ValueError, TypeError, RecursionError) as error:
        raise InputError("checksums that cannot be read") from error
    if not isinstance(written.files, dict):
        raise InputError("checksums that cannot be read")
    return written


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
