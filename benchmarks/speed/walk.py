"""How much of the package one explanation walks through: modules touched, depth of calls.

    python -m benchmarks.speed.walk [--engine auto]

One warm `explain()` of a molecule under Python's profiler. Only frames of eigsearch count: those of
torch, PyG and the model between them are left out of the depth. A newcomer who follows the call in
a debugger sees this many files, and this deep a stack.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import torch

import eigsearch
from eigsearch import datasets
from eigsearch.models import zoo

ROOT = str(Path(eigsearch.__file__).parent)


class Walk:
    """Counts the modules that calls enter, and the deepest stack of them."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.depth = 0
        self.deepest: list[str] = []

    def __call__(self, frame: FrameType, event: str, _arg: Any) -> None:
        """Note a call; the profiler calls this."""
        file = frame.f_code.co_filename
        if event != "call" or not file.startswith(ROOT):
            return
        self.calls[file.removeprefix(ROOT + "/")] += 1
        stack = _stack(frame)
        if len(stack) > self.depth:
            self.depth, self.deepest = len(stack), stack


def _stack(frame: FrameType | None) -> list[str]:
    stack = []
    while frame is not None:
        if frame.f_code.co_filename.startswith(ROOT):
            file = frame.f_code.co_filename.removeprefix(ROOT + "/")
            stack.append(f"{file}: {frame.f_code.co_name}")
        frame = frame.f_back
    return stack[::-1]


def main() -> None:
    """Walk, and print modules and the deepest stack."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--graph", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    model, _ = zoo.load("Mutagenicity", "gin")
    data = datasets.load("Mutagenicity")[options.graph]
    eigsearch.explain(model, data, engine=options.engine)
    walk = Walk()
    sys.setprofile(walk)
    try:
        eigsearch.explain(model, data, engine=options.engine)
    finally:
        sys.setprofile(None)
    for name, calls in sorted(walk.calls.items()):
        print(f"{calls:6d}  {name}")
    print(*walk.deepest, sep="\n")
    total = sum(walk.calls.values())
    print(f"{len(walk.calls)} modules, {total} calls, depth {walk.depth}")


if __name__ == "__main__":
    main()
