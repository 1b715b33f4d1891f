"""Describe the machine and the package versions that rows were made with."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from functools import cache
from pathlib import Path

import torch

from eigsearch._utils.versions import versions


@cache
def machine() -> str:
    """Return the processor, the number of cores and the system, in a line."""
    return f"{processor()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}"


@cache
def processor() -> str:
    """Return the processor's name; Linux tells it in a file only."""
    listing = Path("/proc/cpuinfo")
    if listing.is_file():
        for line in listing.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown processor"


@cache
def versions_json() -> str:
    """Return the versions that a row depends on, and torch's threads, as JSON."""
    found = {**versions(), "python": platform.python_version(), "threads": torch.get_num_threads()}
    return json.dumps(found, sort_keys=True)


@cache
def commit() -> str | None:
    """Return the commit of the checkout that runs, marked where files differ from it."""
    git = ["git", "-C", str(Path(__file__).parent)]
    try:
        found = [*git, "describe", "--always", "--dirty=+changes", "--exclude=*", "--abbrev=12"]
        return subprocess.run(found, check=True, capture_output=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):  # installed from a wheel, or no git
        return None


def system_load() -> float | None:
    """Return the 1-minute load average, which says whether times can be trusted."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None
