"""Grids of pictures have the same bytes again, and are never empty."""

from __future__ import annotations

import pytest

from eigsearch.errors import InputError
from eigsearch.visualization import save_grid
from tests.molecules.chosen import nitro, six


@pytest.mark.parametrize(
    ("suffix", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")]
)
def test_save_grid_writes_the_same_bytes_again(suffix, start, tmp_path):
    contents = [save_grid([*six()], tmp_path / f"g.{suffix}", columns=3).read_bytes() for _ in "12"]
    assert contents[0].startswith(start)
    assert contents[0] == contents[1]


def test_save_grid_of_nothing_or_as_text_is_refused(tmp_path):
    with pytest.raises(InputError, match="at least one explanation"):
        save_grid([], tmp_path / "grid.svg")
    with pytest.raises(InputError, match="a figure to end in"):
        save_grid([nitro()], tmp_path / "grid.txt")
