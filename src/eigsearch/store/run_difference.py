"""Say in words how a run differs from the one that a directory holds."""

from __future__ import annotations

import json
import re
from typing import Any

_MOST = 4  # differences that a sentence names
_HASH = re.compile(r"\b[0-9a-f]{64}\b")
_MISSING = object()
_FILES = "config.data_files."

# Entries that hold hashes, which say nothing to a reader.
_HASHED = {
    "config.data": "the data have another content",
    "config.model": "the model is another one",
    "config.model.code": "the code of the model, or of what it calls, is another one",
    "config.model.settings": "the model was built with other arguments or settings",
    "config.model.weights": "the model has other weights",
    "config.model_file": "the file that defines the model has another content",
    "config.forward": "`forward` holds other values",
    "config.ranker": "the ranker was trained otherwise, or holds other values",
    "config.search": "the search holds other values",
    "config.options.groups": "`groups` are other ones",
    "config.items": "other graphs, nodes or links are asked for",
    "config.target": "other targets are asked for",
}
_KINDS = (("config.options.", "option "), ("config.", ""), ("versions.", "version of "), ("", ""))


def run_difference(before: Any, now: Any, apart: str | None = None) -> str | None:
    """Return how two nested records of runs differ, in words; None where they are equal.

    What a reader can compare comes first, with both values; hashes become sentences. The entry
    `apart` is left out.

    >>> run_difference({"config": {"seed": 0}}, {"config": {"seed": 1}})
    'seed was 0, now it is 1'
    """
    old, new = _flat(before), _flat(now)
    names = sorted(n for n in old.keys() | new.keys() if n != apart and old.get(n) != new.get(n))
    if any(name.startswith(_FILES) for name in names):
        names.remove("config.data")  # the files say more
    found = [_words(name, old.get(name, _MISSING), new.get(name, _MISSING)) for name in names]
    said = [words for _, words in sorted(found, key=lambda each: not each[0])]
    more = f"; and {len(said) - _MOST} more" if len(said) > _MOST else ""
    return "; ".join(said[:_MOST]) + more if said else None


def _words(name: str, before: Any, now: Any) -> tuple[bool, str]:
    """Return whether the values of an entry can be read, and how they differ."""
    if name.startswith(_FILES):
        number = int(name.rpartition(".")[2]) + 1
        return False, f"data file {number}, in the order of names, has another content"
    if any(_HASH.search(str(value)) for value in (before, now)):
        return False, _HASHED.get(name, f"{_shown(name)} is another one")
    return True, f"{_shown(name)} was {_value(before)}, now it is {_value(now)}"


def _shown(name: str) -> str:
    start, kind = next(each for each in _KINDS if name.startswith(each[0]))
    return f"{kind}{name.removeprefix(start)}"


def _value(value: Any) -> str:
    return "not given" if value is _MISSING else repr(value)


def _flat(values: Any, prefix: str = "") -> dict[str, Any]:
    """Return nested values with one dotted name each.

    >>> _flat({"config": {"seed": 0}})
    {'config.seed': 0}
    """
    if isinstance(values, list) and f"{prefix}." == _FILES:
        values = dict(enumerate(values))
    if not isinstance(values, dict):
        return {prefix: json.loads(json.dumps(values))}
    parts = (_flat(value, f"{prefix}.{key}" if prefix else key) for key, value in values.items())
    return {key: value for part in parts for key, value in part.items()}
