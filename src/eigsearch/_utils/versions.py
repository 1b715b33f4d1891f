"""Versions of the libraries that an explanation depends on."""

from __future__ import annotations

import torch
import torch_geometric

from eigsearch import __version__


def versions() -> dict[str, str]:
    """Return the versions of eigsearch, torch and torch_geometric."""
    return {
        "eigsearch": __version__,
        "torch": torch.__version__,
        "torch_geometric": torch_geometric.__version__,
    }
