from __future__ import annotations

import pytest

from eigsearch.errors import InputError
from eigsearch.inputs.name_texts import parse_end, parse_link_text


@pytest.mark.parametrize("text", ["3,7", " 3 7 ", "3, 7", "3\t7"])
def test_parse_link_text_either_separator_gives_both_ends(text: str) -> None:
    assert parse_link_text(text) == (3, 7)


@pytest.mark.parametrize("text", ["3", "3,7,9", "a,b", "3,-7", "user:,3", "3:user,4", "9" * 19])
def test_parse_link_text_that_is_no_link_raises(text: str) -> None:
    with pytest.raises(InputError, match="to be two nodes"):
        parse_link_text(text)


def test_parse_link_text_type_of_one_end_alone_raises_with_the_place() -> None:
    with pytest.raises(InputError, match=r"^Expected line 4 .* type of both nodes"):
        parse_link_text("user:3,7", "line 4")


@pytest.mark.parametrize("text", ["", "movie", "movie:", ":7", "7.0", "1 2"])
def test_parse_end_that_is_no_node_raises(text: str) -> None:
    with pytest.raises(InputError, match="to be a number"):
        parse_end(text)
