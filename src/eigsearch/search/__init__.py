"""Step 6: searches turn a ranking into a subgraph of the right size."""

from eigsearch.search.base import NearOptimal, Outcome, Problem, Search, Step, Steps
from eigsearch.search.curve import Curve
from eigsearch.search.exhaustive import Exhaustive
from eigsearch.search.refine.options import Anchored, Refine
from eigsearch.search.registry import SEARCHES as SEARCHES
from eigsearch.search.registry import make_search
from eigsearch.search.resweep import Resweep
from eigsearch.search.sizes import check_min_size, check_sparsity, size_range, sizes_to_try
from eigsearch.search.sweep import FixedSize, Sweep

__all__ = [
    "Anchored",
    "Curve",
    "Exhaustive",
    "FixedSize",
    "NearOptimal",
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
