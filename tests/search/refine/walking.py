"""Walkers on problems whose φ is a function of the keep-row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from eigsearch.search import Refine
from eigsearch.search.refine.evaluated import Block
from eigsearch.search.refine.units import columns_of
from eigsearch.search.refine.walker import State, Walker
from tests.search.drive import drive, problem_of

WEIGHT = np.array([1.0, 5.0, 2.0, 4.0, 3.0])  # φ is the sum over the groups that are kept
Phi = Callable[[np.ndarray], np.ndarray]


def additive(rows: np.ndarray) -> np.ndarray:
    return rows @ WEIGHT


def walker_at(keep: list[bool], phi: Phi = additive, **options: Any) -> Walker:
    """Return a walker at a subgraph of groups that are ranked in order; a prefix is known."""
    base = np.array(keep)
    problem = problem_of(len(base), phi_full=float(phi(np.ones((1, len(base)), bool))[0]))
    walker = Walker(Refine(**options), problem)
    ask(walker, walker.prefixes(np.arange(len(base)), np.array([1])), phi)
    kept, removed = (float(phi(rows[None])[0]) for rows in (base, ~base))
    gain = float(problem.gain(np.array([kept]), np.array([removed]))[0])
    walker.start(State(base, kept, removed, gain, gain))
    key, places = walker.evaluated.group_key, np.arange(len(base))
    walker.units = columns_of(places, key, places.astype(float), base)
    return walker


def ask(walker: Walker, block: Block | None, phi: Phi = additive) -> None:
    """Evaluate a block."""
    assert block is not None
    drive(walker.evaluated.evaluate(block), lambda rows: torch.from_numpy(phi(rows.numpy())))


def subgraphs(block: Block | None) -> list[list[int]]:
    """Return the groups of each subgraph of a block."""
    assert block is not None
    return [np.flatnonzero(row).tolist() for row in block.rows(np.arange(len(block)))]


def flip(walker: Walker, units: np.ndarray) -> None:
    """Ask for the first new ones of some units flipped around the centre."""
    flips = np.array(walker.choose(units), np.int64)
    member = walker.units.member
    rows = walker.keep ^ (member == flips[:, None])
    key = np.bitwise_xor.reduce(np.where(rows, walker.evaluated.group_key, 0), axis=1)
    walker.ask(flips, rows.sum(axis=1), key, np.zeros(len(flips)))
