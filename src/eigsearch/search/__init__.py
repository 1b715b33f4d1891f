"""Searches: how a ranking becomes a subgraph of the right size."""

from eigsearch.errors import InputError
from eigsearch.search.base import Outcome, Problem, Search, Step, Steps
from eigsearch.search.curve import Curve
from eigsearch.search.exhaustive import Exhaustive
from eigsearch.search.refine.climb import Anchored, Refine
from eigsearch.search.resweep import Resweep
from eigsearch.search.sizes import check_min_size, check_sparsity, size_range, sizes_to_try
from eigsearch.search.sweep import FixedSize, Sweep

__all__ = [
    "Anchored",
    "Curve",
    "Exhaustive",
    "FixedSize",
    "Outcome",
    "Problem",
    "Refine",
    "Resweep",
    "Search",
    "Step",
    "Steps",
    "Sweep",
    "check_min_size",
    "check_sparsity",
    "make_search",
    "size_range",
    "sizes_to_try",
]

SEARCHES: dict[str, type[Search]] = {
    "sweep": Sweep,
    "resweep": Resweep,
    "refine": Refine,
    "anchored": Anchored,
    "exhaustive": Exhaustive,
    "fixed": FixedSize,
}


def make_search(search: str | Search | None, size: int | None = None) -> Search:
    """Return the search that a name or an object means; None, as "fixed", cuts the ranking."""
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
