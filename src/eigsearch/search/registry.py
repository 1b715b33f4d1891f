"""Registry: the searches by name."""

from __future__ import annotations

from eigsearch.errors import InputError
from eigsearch.search.base import Search
from eigsearch.search.exhaustive import Exhaustive
from eigsearch.search.refine.options import Anchored, Refine
from eigsearch.search.resweep import Resweep
from eigsearch.search.sweep import FixedSize, Sweep

SEARCHES: dict[str, type[Search]] = {
    "sweep": Sweep,
    "resweep": Resweep,
    "refine": Refine,
    "anchored": Anchored,
    "exhaustive": Exhaustive,
    "fixed": FixedSize,
}


def make_search(search: str | Search | None, size: int | None = None) -> Search:
    """Return the search for a name or an object; None means "fixed".

    Args:
        search: A name of `SEARCHES`, an object with `steps()`, or None.
        size: The size at which "fixed" cuts the ranking.

    Raises:
        InputError: If the name is unknown, or `size` comes with another search.
    """
    if search is None or search == FixedSize.name:
        return FixedSize(size)
    if size is not None:
        raise InputError(
            f"Expected `size` to come with search='fixed' (got search={search!r}). "
            "A search finds the size by itself; pass search='fixed' to set it."
        )
    if isinstance(search, str) and search in SEARCHES:
        return SEARCHES[search]()
    if isinstance(search, str):
        raise InputError(
            f"Expected `search` to be one of {', '.join(SEARCHES)} (got {search!r}). "
            "Choose one of these, or a `size` instead of a search."
        )
    return search
