"""Benchmarks: a plan becomes runs, runs become rows, and a report only reads rows."""

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
