"""Objects as bytes for another process: pickle, with tensors as plain arrays."""

from __future__ import annotations

import io
import pickle
from typing import Any

import numpy as np
import torch
from torch import Tensor


class _Packer(pickle.Pickler):
    """Writes a tensor as the array of its own values.

    Torch's own way stores the memory that a tensor is a view of: the whole data set, once for each
    graph that was sliced from it. It is also ten times slower for small tensors.
    """

    def reducer_override(self, value: Any) -> Any:
        plain = (
            type(value) is Tensor and value.device.type == "cpu" and value.layout is torch.strided
        )
        if not plain or value.requires_grad or value.dtype is torch.bfloat16:
            return NotImplemented
        array = value.resolve_conj().resolve_neg().numpy()
        return torch.from_numpy, (np.array(array, order="C"),)


def pack(value: Any) -> bytes:
    """Return an object as bytes; `unpack` gives it back in a process of the same run."""
    stream = io.BytesIO()
    _Packer(stream, protocol=pickle.HIGHEST_PROTOCOL).dump(value)
    return stream.getvalue()


def unpack(content: bytes) -> Any:
    """Return what `pack` was given. Only ever called on bytes of the same run."""
    return pickle.loads(content)
