"""A killed run continues with the same command: nothing lost, nothing twice."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.cli.killing import SHARDS, content, finish, kill_after, written


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("calm") / "out"
    finish(out)
    return out


def test_ten_kills_at_random_moments(calm: Path, tmp_path: Path) -> None:
    rng, out = random.Random(7), tmp_path / "out"
    seen = []
    for _ in range(10):
        kill_after(out, rng.randrange(4), rng.uniform(0, 0.05))
        seen.append(written(out))
    assert seen == sorted(seen)
    assert 0 < seen[-1] < SHARDS
    finish(out)
    assert content(out) == content(calm)


def test_the_driver_of_worker_processes_is_killed(calm: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    kill_after(out, 3, 0.01, "--workers", "2")
    assert 3 <= written(out) < SHARDS
    finish(out, "--workers", "2")
    assert content(out) == content(calm)
