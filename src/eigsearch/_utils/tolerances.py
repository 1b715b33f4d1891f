"""Agreement: whether two outputs of a model are the same but for rounding, in whatever unit."""

from __future__ import annotations

import torch
from torch import Tensor

_ROUNDINGS = 4  # in a row, where a number format is so coarse that they show


def outputs_close(one: Tensor, other: Tensor, share: float) -> bool:
    """Tell whether outputs differ by no more than a share of their size, or by rounding."""
    if not one.is_floating_point():
        return torch.equal(one, other)
    share = max(share, _ROUNDINGS * torch.finfo(one.dtype).eps)
    unit = one.abs().max().clamp(max=1) + one.abs()
    return bool(((one - other).abs() <= share * unit).all())
