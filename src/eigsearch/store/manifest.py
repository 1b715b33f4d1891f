"""The manifest: everything that the rows of a run depend on, beside the rows."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from eigsearch._utils.atomic_files import write_atomic
from eigsearch.errors import InputError
from eigsearch.options import versions
from eigsearch.store.schema import SCHEMA_VERSION


@dataclass(frozen=True)
class Manifest:
    """What was run.

    Attributes:
        config: Data, model, options and seed as plain values, with hashes of data and weights.
        rows: How many explanations the run has.
        shard_size: How many of them one shard has; the last may have fewer.
        names: What numbers stand for, such as `class_names`.
        versions: The versions of the libraries that explanations depend on.
        schema: The version of the columns.
    """

    config: dict[str, Any]
    rows: int
    shard_size: int
    names: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=versions)
    schema: int = SCHEMA_VERSION

    @property
    def options(self) -> dict[str, Any]:
        """How the rows were obtained, as `SubgraphExplanation.config` has it."""
        return {**self.config.get("options", {}), "versions": self.versions}

    def save(self, path: Path) -> None:
        """Write the manifest as JSON."""
        write_atomic(path, json.dumps(asdict(self), indent=2, sort_keys=True).encode() + b"\n")

    def difference(self, other: Manifest, apart: str | None = None) -> str | None:
        """Return the first thing in which another run differs, `apart` aside, as words, or None."""
        mine, theirs = _flat(asdict(self)), _flat(asdict(other))
        for key in sorted((mine.keys() | theirs.keys()) - {apart}):
            if mine.get(key) != theirs.get(key):
                return f"{key} = {mine.get(key)!r}, now {theirs.get(key)!r}"
        return None


def read_manifest(path: Path) -> Manifest:
    """Return the manifest that `save` wrote."""
    try:
        values = json.loads(path.read_bytes())
        manifest = Manifest(**values)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise InputError(
            f"Expected {path.parent} to be a directory of results (got {_instead(path)}). "
            "Pass what `eigsearch explain --out` wrote."
        ) from error
    except (OSError, ValueError, TypeError) as error:
        raise InputError(
            f"Expected {path} to be a manifest of eigsearch with the fields "
            f"{', '.join(f.name for f in fields(Manifest))} (got: {error}). "
            "Write the results into a new directory."
        ) from error
    if manifest.schema != SCHEMA_VERSION:
        raise InputError(
            f"Expected results of schema {SCHEMA_VERSION} in {path.parent} (got "
            f"{manifest.schema!r}). Write them again with this version of eigsearch."
        )
    return manifest


def _instead(path: Path) -> str:
    """Return what is there instead of the manifest."""
    if path.parent.is_dir():
        return f"one without {path.name}"
    return "a file" if path.parent.exists() else "nothing there"


def _flat(values: Any, prefix: str = "") -> dict[str, Any]:
    """Return nested values with one dotted name each.

    >>> _flat({"config": {"seed": 0}})
    {'config.seed': 0}
    """
    if not isinstance(values, dict):
        return {prefix: json.loads(json.dumps(values))}
    parts = (_flat(value, f"{prefix}.{key}" if prefix else key) for key, value in values.items())
    return {key: value for part in parts for key, value in part.items()}
