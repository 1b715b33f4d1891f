"""Hashes by which a continued run knows its model and its data again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor


def digest_of(parts: Iterable[Mapping[str, Any]]) -> str:
    """Return the SHA-256 of named values, tensors by type, shape and content.

    >>> digest_of([{"x": torch.ones(2)}]) == digest_of([{"x": torch.ones(2)}])
    True
    """
    total = hashlib.sha256()
    for part in parts:
        for name in sorted(part):
            total.update(name.encode())
            _update(total, part[name])
    return total.hexdigest()


def model_digest(model: Any) -> str:
    """Return the SHA-256 of a model's kind and weights."""
    kind = type(model) if isinstance(model, torch.nn.Module) else model
    name = getattr(kind, "__qualname__", type(kind).__qualname__)
    weights = model.state_dict() if isinstance(model, torch.nn.Module) else {}
    return digest_of([{"kind": f"{kind.__module__}.{name}"}, weights])


def _update(total: Any, value: Any) -> None:
    if isinstance(value, Tensor) and value.layout is torch.strided:
        value = value.detach().cpu().contiguous()
        total.update(f"{value.dtype}{tuple(value.shape)}".encode())
        total.update(value.reshape(-1).view(torch.uint8).numpy())
    else:
        total.update(repr(value).encode())
