"""Mutate a fixed sample of places in the core, and count the mutants that tests kill.

    python -m benchmarks.mutation                 # 160 mutants of seed 0
    python -m benchmarks.mutation --seed 1 --count 40 --part search
    python -m benchmarks.mutation --list          # only print the sample
    python -m benchmarks.mutation --finished runs/mutation.jsonl   # goes on where it was stopped

A mutant is killed when a test of its module, or of the properties of the whole, fails or does not
end. Survivors are printed and written to `benchmarks/results/mutation/seed-N.csv`; the reasons why
they live are in docs/design/mutation.md.
"""

from __future__ import annotations

import argparse
import csv
import random
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

from benchmarks.mutation.finished import Finished
from benchmarks.mutation.mutants import Mutant, mutants_of
from benchmarks.mutation.runner import Runner, copy_source, load_libraries
from benchmarks.mutation.targets import modules

ROOT = Path(__file__).parents[2]
RUNNERS: list[Runner] = []  # the one of this process
RESULTS = ROOT / "benchmarks" / "results" / "mutation"


def sample(seed: int, count: int, part: str) -> list[Mutant]:
    """Return the mutants to try, in the order of files and lines."""
    files = [path for path in modules(ROOT) if part in str(path)]
    found = [mutant for path in files for mutant in mutants_of(ROOT, path)]
    chosen = random.Random(seed).sample(range(len(found)), min(count, len(found)))
    return [found[number] for number in sorted(chosen)]


def verdict(mutant: Mutant) -> str:
    """Return "killed", "endless" or "survived"."""
    run = RUNNERS[0]
    with run.holding(mutant):
        for tests in modules(ROOT)[mutant.path]:
            outcome = run.outcome(tests)
            if outcome != "passed":
                return "killed" if outcome == "failed" else outcome
    return "survived"


def check_tests_pass(mutants: list[Mutant]) -> None:
    """Raise if tests fail without a mutant: then they would kill every one."""
    for tests in sorted({tuple(stage) for m in mutants for stage in modules(ROOT)[m.path]}):
        if RUNNERS[0].outcome(tests) != "passed":
            raise SystemExit((RUNNERS[0].copy / "tests.log").read_text()[-4000:])


def start(folder: str) -> None:
    """Give this process a copy of the source."""
    copy = Path(mkdtemp(dir=folder))
    copy_source(ROOT, copy)
    RUNNERS[:] = [Runner(ROOT, copy)]


def run(mutants: list[Mutant], jobs: int, unchecked: bool) -> Iterator[tuple[Mutant, str]]:
    """Yield each mutant with its verdict."""
    load_libraries()
    with TemporaryDirectory() as folder:
        start(folder)
        if not unchecked:
            check_tests_pass(mutants)
        with ProcessPoolExecutor(jobs, get_context("fork"), start, (folder,)) as pool:
            yield from zip(mutants, pool.map(verdict, mutants), strict=True)


def write(path: Path, rows: list[tuple[Mutant, str]]) -> None:
    """Write what became of each mutant."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["module", "line", "before", "after", "verdict"])
        for mutant, result in rows:
            writer.writerow([mutant.path, mutant.line, mutant.before, mutant.text, result])


def main() -> None:
    """Run the sample and print the share of mutants that were killed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=160)
    parser.add_argument("--part", default="", help="only modules whose path contains this")
    parser.add_argument("--jobs", type=int, default=2, help="mutants at a time")
    parser.add_argument("--unchecked", action="store_true", help="trust that tests pass now")
    parser.add_argument("--finished", type=Path, help="a file that keeps verdicts for the next run")
    parser.add_argument("--list", action="store_true", help="print the mutants and stop")
    options = parser.parse_args()
    mutants = sample(options.seed, options.count, options.part)
    if options.list:
        print(*mutants, sep="\n")
        return
    finished = Finished(ROOT, options.finished)
    missing = [mutant for mutant in mutants if mutant not in finished]
    for mutant, result in run(missing, options.jobs, options.unchecked):
        finished.add(mutant, result)
        print(f"{len(finished)}/{len(mutants)}  {result:8}  {mutant}", flush=True)
    rows = [(mutant, finished[mutant]) for mutant in mutants]
    killed = sum(result != "survived" for _, result in rows)
    print(f"killed {killed} of {len(rows)} ({killed / len(rows):.1%})")
    if not options.part:
        write(RESULTS / f"seed-{options.seed}.csv", rows)


if __name__ == "__main__":
    main()
