"""Fuzz the library: random graphs through random models, promises checked, failures by number.

    python -m benchmarks.fuzz --graphs 100000 --seed 0
    python -m benchmarks.fuzz --only 4711 --seed 0

A case is one model with up to 64 graphs. What breaks is printed with the number of its case,
and `--only` runs that case again and lets the error fly.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback

import torch

from benchmarks.fuzz.cases import draw_case
from benchmarks.fuzz.check import Tally, check_case

_EVERY = 60.0  # seconds between two lines of progress


def fuzz(graphs: int, seed: int, first: int = 0) -> tuple[Tally, list[int]]:
    """Check cases until so many graphs were drawn; return the tally and the cases that failed."""
    tally, failed, number = Tally(), [], first
    start = told = time.monotonic()
    while tally.graphs < graphs:
        try:
            check_case(seed, number, tally)
        except Exception as error:
            failed.append(number)
            print(f"FAILED --seed {seed} --only {number}: {reason(error)}", flush=True)
        number += 1
        if time.monotonic() - told > _EVERY:
            told = time.monotonic()
            print(progress(tally, failed, number, told - start), flush=True)
    print(progress(tally, failed, number, time.monotonic() - start), flush=True)
    print(", ".join(f"{name} {count}" for name, count in sorted(tally.checks.items())))
    return tally, failed


def reason(error: Exception) -> str:
    """Return an error as one line, with the place that raised it."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{place.filename.rsplit('/', 1)[-1]}:{place.lineno}"
    return f"{type(error).__name__} at {where}: {' '.join(str(error).split())[:300]}"


def progress(tally: Tally, failed: list[int], number: int, seconds: float) -> str:
    """Return how far the fuzz is."""
    return (
        f"{tally.graphs} graphs, {tally.explanations} explanations, cases up to {number}, "
        f"{len(failed)} failed, {seconds:.0f} s"
    )


def main() -> None:
    """Run the fuzz, or one case of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", type=int, default=1_000, help="how many graphs to draw")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the case to begin with")
    parser.add_argument("--only", type=int, help="the one case to run, with its error")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.only is not None:
        print(draw_case(arguments.seed, arguments.only))
        check_case(arguments.seed, arguments.only, Tally())
    else:
        sys.exit(bool(fuzz(arguments.graphs, arguments.seed, arguments.first)[1]))


if __name__ == "__main__":
    main()
