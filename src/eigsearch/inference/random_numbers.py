"""Random numbers in a model's forward: noticed where they are drawn, refused where they matter."""

from __future__ import annotations

import ctypes
import pickle
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from eigsearch._utils.tolerances import REPEATS, outputs_close
from eigsearch.errors import ModelError
from eigsearch.inference.target import short_row


def generator_state() -> bytes:
    """Return the state of torch's generator on the CPU, which each draw changes.

    It is read without an operation of torch: those of a model may be recorded around it.
    """
    state = torch.default_generator.get_state()
    return ctypes.string_at(state.data_ptr(), state.numel())


def generator_states() -> tuple[Any, ...]:
    """Return the states of the generators of torch, NumPy and Python; it takes 60 µs."""
    return generator_state(), *_other_states()


def draws_itself(call: Callable[[], object]) -> bool:
    """Return whether a call draws random numbers; what other threads draw meanwhile is left out.

    All threads share the generators. Of torch's, the single operations of this thread are watched.
    Those of NumPy and Python have changed once before this call, and have to change again.
    """
    before = _other_states()
    with _Watch() as watch:
        call()
    return watch.drew or before != _other_states()


def _other_states() -> tuple[Any, ...]:
    of_numpy = np.random.get_state(legacy=False)
    return pickle.dumps(of_numpy), random.getstate()


class _Watch(TorchDispatchMode):
    """Notes whether an operation of this thread draws from torch's generator on the CPU."""

    def __init__(self) -> None:
        super().__init__()
        self.drew = False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        # Operations of extensions do not say whether they draw.
        may_draw = torch.Tag.nondeterministic_seeded in func.tags or func.namespace != "aten"
        before = generator_state() if may_draw else b""
        result = func(*args, **(kwargs or {}))
        self.drew |= may_draw and before != generator_state()
        return result


def check_repeats(first: Tensor, again: Tensor, tolerance: float = REPEATS) -> None:
    """Raise ModelError if the outputs of two calls of a model on one input differ."""
    if first.shape == again.shape and outputs_close(first, again, tolerance):
        return
    one, other = _differing_rows(first, again)
    raise ModelError(
        "Expected the model to give the same output twice for the same graph (got "
        f"{one} and {other}). Switch off dropout or sampling that runs in evaluation mode."
    )


def _differing_rows(first: Tensor, again: Tensor) -> tuple[str, str]:
    """Return the row that differs most, in both outputs; their shapes where those differ."""
    if first.shape != again.shape:
        return f"shape {list(first.shape)}", f"shape {list(again.shape)}"
    rows = first.size(0) if first.dim() > 1 else 1
    one, other = first.double().reshape(rows, -1), again.double().reshape(rows, -1)
    worst = int((one - other).abs().amax(dim=1).argmax())
    return short_row(one[worst].tolist()), short_row(other[worst].tolist())
