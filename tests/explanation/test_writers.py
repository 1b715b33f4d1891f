from __future__ import annotations

import sys
from pathlib import Path

import pytest

from eigsearch.errors import InputError
from eigsearch.explanation import writers
from eigsearch.explanation.writers import find_writer, register_writer


@pytest.mark.parametrize("form", [".html", ".svg", ".png", "axes", "notebook"])
def test_find_writer_known_form_returns_a_function(form: str) -> None:
    assert callable(find_writer(form))


def test_find_writer_unknown_suffix_raises_with_the_known_ones() -> None:
    expected = r"ends in \.json, \.html, \.svg, .* or \.cyjs \(got '\.gif'\)"
    with pytest.raises(InputError, match=expected):
        find_writer(".gif")


def test_register_writer_new_suffix_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writers, "_WRITERS", dict(writers._WRITERS))
    (tmp_path / "text_writer.py").write_text("def save(explanation, path, names):\n    return 7\n")
    monkeypatch.syspath_prepend(tmp_path)
    register_writer(".txt", "text_writer:save")
    assert "text_writer" not in sys.modules  # imported on first use
    assert find_writer(".txt")(None, None, None) == 7


@pytest.mark.parametrize("function", ["json", "json:", ":dumps"])
def test_register_writer_without_module_or_name_raises(function: str) -> None:
    with pytest.raises(InputError, match=r"'package\.module:name'"):
        register_writer(".txt", function)
