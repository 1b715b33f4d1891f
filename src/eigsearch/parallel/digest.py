"""Hashes by which a continued run knows its model, its data and its options again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from eigsearch._utils.fingerprint import describe_value, hidden_state


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
    if not isinstance(model, torch.nn.Module):
        return digest_of([{"kind": describe_value(model)}, dict(_leaves(hidden_state(model)))])
    kind = type(model)
    return digest_of([{"kind": f"{kind.__module__}.{kind.__qualname__}"}, model.state_dict()])


def held_digest(value: Any) -> str | None:
    """Return the SHA-256 of what an option holds and does not say, None where that is nothing.

    An explainer says how it was trained, and holds the weights that came of it.
    """
    held = hidden_state(value)
    return digest_of([dict(_leaves(held))]) if held else None


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield tensors and plain values that make up a value, each with its path."""
    if isinstance(value, torch.nn.Module) or hasattr(value, "rank"):  # a ranker inside another
        yield path, describe_value(value)
        value = hidden_state(value)
    elif isinstance(value, np.ndarray):
        value = value.tolist()
    elif isinstance(value, (set, frozenset)):
        value = sorted(str(describe_value(each)) for each in value)
    if isinstance(value, (list, tuple)):
        value = dict(enumerate(value))
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _leaves(part, f"{path}.{describe_value(key)}")
    else:
        yield path, value if isinstance(value, Tensor) else describe_value(value)


def _update(total: Any, value: Any) -> None:
    if isinstance(value, Tensor) and value.layout is torch.strided:
        value = value.detach().cpu().contiguous()
        total.update(f"{value.dtype}{tuple(value.shape)}".encode())
        total.update(value.reshape(-1).view(torch.uint8).numpy())
    else:
        total.update(repr(value).encode())
