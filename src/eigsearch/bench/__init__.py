"""Benchmarks: a plan becomes runs, runs become rows, and a report only reads rows."""

import warnings
from typing import Any

from eigsearch.bench.plan import PLANS, Plan, parse_plan, read_plan
from eigsearch.bench.rows.results import Results
from eigsearch.bench.run.executor import Progress, run_plan
from eigsearch.bench.run_spec import RunSpec

__all__ = [
    "PLANS",
    "Plan",
    "Progress",
    "Results",
    "RunSpec",
    "parse_plan",
    "read_plan",
    "run_plan",
]


def __getattr__(name: str) -> Any:
    """Return `run_plan` under the name that it had in the first release."""
    if name != "carry_out":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warnings.warn("carry_out is now run_plan.", DeprecationWarning, stacklevel=2)
    return run_plan
