"""One thread, no deadlines, and the same examples every time, unless `RANDOM_EXAMPLES` is set."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator

import pytest
import torch
from hypothesis import HealthCheck, settings

from tests.time_limit import time_limit

settings.register_profile(
    "eigsearch",
    deadline=None,
    max_examples=25,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    database=None,
    derandomize="RANDOM_EXAMPLES" not in os.environ,
)
settings.load_profile("eigsearch")

LONGEST = 1_200  # seconds: a busy machine takes minutes for the slowest test


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """Let no test wait for ever, its fixtures included."""
    with time_limit(LONGEST):
        return (yield)


@pytest.fixture(autouse=True, scope="session")
def single_thread() -> Iterator[None]:
    """Let small matrices stay on one core: the tests are many, and the machines are shared."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
