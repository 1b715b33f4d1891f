"""What users read when the incremental engine does not serve a model: sentences with a subject."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import eigsearch.engines

SOURCES = sorted(Path(eigsearch.engines.__file__).parent.rglob("*.py"))
# Some state the operation themselves, as they are raised where no rule of one is applied.
BEGINNINGS = ("The model", "The attribute `", "The first dimension ", "The result ",
              "The incremental engine ", "The engines ", "`…`: The model ")  # fmt: skip


def sentences(source: Path) -> Iterator[str]:
    """Yield the texts that a file raises `NotServed` with, with … for what is filled in."""
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "NotServed":
            (given,) = node.args
            if isinstance(given, ast.Constant):
                yield str(given.value)
            elif isinstance(given, ast.JoinedStr):
                parts = [v.value if isinstance(v, ast.Constant) else "…" for v in given.values]
                yield "".join(map(str, parts))


def test_not_served_reasons_are_sentences_about_the_model() -> None:
    found = [sentence for source in SOURCES for sentence in sentences(source)]
    assert len(found) > 50
    assert [each for each in found if not each.startswith(BEGINNINGS)] == []
    assert [each for each in found if not each.endswith(".") or ". " in each] == []
