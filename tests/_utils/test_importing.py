"""Files that a user names are imported, or it is told what is wrong in which line."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from eigsearch._utils.importing import import_named
from eigsearch.errors import InputError


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("x = 1\ndef (:\n", r"SyntaxError: invalid syntax; .*broken\.py, line 2"),
        ("\nraise ValueError('no\\nway')\n", r"ValueError: no; .*broken\.py, line 2"),
        ("raise ValueError\n", r"got ValueError; .*broken\.py, line 1"),
        ("import not_a_package\n", r"No module named 'not_a_package'; .*broken\.py, line 1"),
        ("import sys\nsys.exit(0)\n", r"SystemExit: 0; .*broken\.py, line 2"),
    ],
)
@pytest.mark.parametrize("named", ["file", "module"])
def test_import_named_file_that_cannot_be_imported_is_told_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str, source: str, words: str
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "broken.py").write_text(source)
    importlib.invalidate_caches()
    name = tmp_path / "broken.py" if named == "file" else "broken"
    expected = words if named == "file" else words.split(";")[0]
    with pytest.raises(InputError, match=expected):
        import_named(f"{name}:Net", "--model", "model")
    assert "broken" not in sys.modules


def test_import_named_file_that_holds_no_text_is_told_without_a_line(tmp_path: Path) -> None:
    (tmp_path / "no_text.py").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="SyntaxError: ") as error:
        import_named(f"{tmp_path / 'no_text.py'}:Net", "--model", "model")
    assert "line None" not in str(error.value)


def test_import_named_file_with_a_dot_in_its_name_is_told(tmp_path: Path) -> None:
    (tmp_path / "net.v2.py").write_text("class Net: ...")
    with pytest.raises(InputError, match=r"without a dot .*net\.v2\.py\)\. Rename"):
        import_named(f"{tmp_path / 'net.v2.py'}:Net", "--model", "model")
