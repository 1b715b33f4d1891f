"""Record everything that the rows of a run depend on, beside the rows."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from eigsearch._utils.atomic_files import write_atomic
from eigsearch._utils.versions import versions
from eigsearch.errors import InputError
from eigsearch.store.run_difference import run_difference
from eigsearch.store.schema import SCHEMA_VERSION

_KEY = "key"
_DATASET = "dataset"
_KINDS = ("graphs", "nodes", "links")  # kinds of prediction


@dataclass(frozen=True)
class Manifest:
    """The configuration of a run.

    Attributes:
        config: Data, model, options and seed as JSON values, with hashes of data and model.
        rows: The number of explanations of the run.
        shard_size: The number of rows per shard; the last shard may have fewer.
        names: The names of numbers, such as `class_names`.
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
        """The options of the run, as `SubgraphExplanation.config` has them."""
        return {**self.config.get("options", {}), "versions": self.versions}

    @property
    def shards(self) -> int:
        """The number of shards of the run."""
        return -(-self.rows // self.shard_size)

    @property
    def key(self) -> str:
        """The SHA-256 of everything that decides rows: all but what things are called."""
        values = {name: value for name, value in asdict(self).items() if name != "names"}
        values["config"] = {k: v for k, v in self.config.items() if k != _DATASET}
        return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()

    def save(self, path: Path) -> None:
        """Write the manifest as JSON, with its key."""
        values = {**asdict(self), _KEY: self.key}
        content = json.dumps(values, indent=2, sort_keys=True).encode() + b"\n"
        write_atomic(path, content, follow_links=False)

    def difference(self, other: Manifest, apart: str | None = None) -> str | None:
        """Return in words how another manifest differs, or None.

        The entry `apart` is left out of the comparison.
        """
        return run_difference(asdict(self), asdict(other), apart)


def read_manifest(path: Path) -> Manifest:
    """Return the manifest that `save` wrote; raise InputError for anything else."""
    try:
        if path.exists() and not path.is_file():
            raise ValueError("something else than a file")
        values = json.loads(path.read_bytes())
        key = values.pop(_KEY, None)
        manifest = Manifest(**values)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise InputError(
            f"Expected {path.parent} to be a directory of results (got {_instead(path)}). "
            "Pass what `eigsearch explain --out` wrote."
        ) from error
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise _not_a_manifest(path, str(error)) from error
    problem = _wrong_type(manifest)
    if problem is not None:
        raise _not_a_manifest(path, problem)
    if manifest.schema != SCHEMA_VERSION:
        raise InputError(
            f"Expected results of schema {SCHEMA_VERSION} in {path.parent} (got "
            f"{manifest.schema!r}). Write them again with this version of eigsearch."
        )
    if key != manifest.key:
        raise _not_a_manifest(path, "entries that were changed after the run wrote them")
    return manifest


def _not_a_manifest(path: Path, found: str) -> InputError:
    return InputError(
        f"Expected {path} to be a manifest of eigsearch with the fields "
        f"{', '.join(f.name for f in fields(Manifest))} (got: {found}). "
        "Write the results into a new directory."
    )


def _wrong_type(manifest: Manifest) -> str | None:
    """Return the first entry that is of a wrong type or out of range, or None."""
    config, names = manifest.config, manifest.names
    counts = (manifest.rows, manifest.shard_size, manifest.schema)
    sound = {
        "config": _is_object(config) and _is_object(config.get("options", {})),
        "config.dataset": _is_object(config) and isinstance(config.get(_DATASET, ""), str),
        "config.kind": _is_object(config) and config.get("kind", "graphs") in _KINDS,
        "rows, shard_size, schema": all(type(count) is int and count >= 0 for count in counts)
        and manifest.shard_size > 0,
        "names": _is_object(names) and all(map(_is_list_of_names, names.values())),
        "versions": _is_object(manifest.versions),
    }
    wrong = next((name for name, is_sound in sound.items() if not is_sound), None)
    return None if wrong is None else f"a wrong value of {wrong}"


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _is_list_of_names(value: Any) -> bool:
    return value is None or (
        isinstance(value, list | tuple) and all(isinstance(name, str) for name in value)
    )


def _instead(path: Path) -> str:
    """Return a description of what is there instead of the manifest."""
    if path.parent.is_dir():
        return f"one without {path.name}"
    return "a file" if path.parent.exists() else "nothing there"
