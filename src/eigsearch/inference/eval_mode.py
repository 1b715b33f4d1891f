"""Evaluation mode: a model is run in it and left exactly as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from eigsearch.inference.model_call import unwrap_partial


@contextmanager
def eval_mode(model: Any) -> Iterator[None]:
    """Run a model in evaluation mode, and leave it exactly as it was, whatever happens.

    Layers that cache a normalised graph (`cached=True`) are made to compute it for each candidate.
    """
    model = unwrap_partial(model)
    modules = list(model.modules()) if isinstance(model, torch.nn.Module) else []
    training = [module for module in modules if module.training]
    cached = [
        (module, {k: v for k, v in vars(module).items() if k.startswith("_cached")})
        for module in modules
        if getattr(module, "cached", False) is True
    ]
    try:
        for module in training:
            module.training = False
        for module, state in cached:
            module.__dict__["cached"] = False
            for key in state:
                setattr(module, key, None)
        yield
    finally:
        for module in training:
            module.training = True
        for module, state in cached:
            module.__dict__["cached"] = True
            for key, value in state.items():
                setattr(module, key, value)
