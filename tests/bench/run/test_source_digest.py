"""Digests of source code change with what decides results, and with nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from eigsearch.bench.run.source_digest import imported_files, source_digest

SOURCE = '''"""A method."""

from eigsearch.explainers.base import Card


class Method:
    """Scores edges."""

    card = Card(
        name="method",
        cost="one pass",
        deviations=(
            "none",
        ),
        seeded=True,
    )

    def rank(self, scale=2):
        """Return the scores."""
        # Doubled, so that they are seen.
        return scale * 1.0
'''


def _digest(folder: Path, text: str) -> str:
    file = folder / f"module_{abs(hash(text))}.py"
    file.write_text(text)
    return source_digest([file])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"""Scores edges."""', '"""Score edges,\n\n    one by one.\n    """'),
        ('"""A method."""', '"""Another text."""'),
        ("# Doubled, so that they are seen.", "# Doubled.\n        # Twice."),
        ('cost="one pass"', 'cost="two passes"'),
        ('            "none",\n', '            "one",\n            "two",\n'),
    ],
)
def test_source_digest_of_another_description_is_the_same(
    before: str, after: str, tmp_path: Path
) -> None:
    assert before in SOURCE
    assert _digest(tmp_path, SOURCE.replace(before, after)) == _digest(tmp_path, SOURCE)


@pytest.mark.parametrize(
    ("before", "after"),
    [("scale * 1.0", "scale * 2.0"), ("scale=2", "scale=3"), ("seeded=True", "seeded=False")],
)
def test_source_digest_of_other_code_is_another(before: str, after: str, tmp_path: Path) -> None:
    assert _digest(tmp_path, SOURCE.replace(before, after)) != _digest(tmp_path, SOURCE)


def test_imported_files_are_those_of_the_package_alone() -> None:
    module, package = "eigsearch.search.sweep", "eigsearch.search"
    names = {file.name for file in imported_files(module, package)}
    assert {"sweep.py", "curve.py", "sizes.py"} <= names
    assert "ranking.py" not in names


def test_imported_files_hold_modules_imported_by_name_from_their_package() -> None:
    module = "eigsearch.explainers.decomposition.relevance.linearized"
    names = {file.name for file in imported_files(module, "eigsearch.explainers")}
    assert {"linearized.py", "operations.py", "rules.py"} <= names
