"""Record the last operation of a model to tell probabilities from scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

# "linear" stands for a matrix product, unbounded whatever its values happen to be; "squashed" for
# numbers that were squashed by one of the last operations, as hand-written sigmoids are; "positive"
# for those that can never be below 0, such as rates.
LastOp = Literal["probs", "log_probs", "linear", "squashed", "positive"]

_KINDS: dict[str, LastOp] = {
    "sigmoid": "probs",
    "special_expit": "probs",
    "_softmax": "probs",
    "softmax": "probs",
    "log_sigmoid_forward": "log_probs",
    "log_sigmoid": "log_probs",
    "_log_softmax": "log_probs",
    "log_softmax": "log_probs",
    "addmm": "linear",
    "mm": "linear",
    "linear": "linear",
    "bmm": "linear",
    "baddbmm": "linear",
    "addmv": "linear",
    "mv": "linear",
}
_SQUASHING = {
    *_KINDS.keys() - {"addmm", "mm", "linear", "bmm", "baddbmm", "addmv", "mv"},
    "atan", "clamp", "clamp_max", "erf", "exp", "hardsigmoid", "hardtanh", "minimum",
    "special_ndtr", "tanh",
}  # fmt: skip
_POSITIVE = {"abs", "relu", "softplus", "square"}
_LAST = 4  # operations before the output that may squash it
# Operations whose result holds the numbers of their first argument.
_SAME_NUMBERS = {
    "_reshape_alias", "_to_copy", "_unsafe_view", "alias", "as_strided", "clone", "contiguous",
    "detach", "expand", "flatten", "permute", "reshape", "select", "slice", "squeeze", "t", "to",
    "transpose", "unsqueeze", "view",
}  # fmt: skip


def last_op(call: Callable[[], Tensor]) -> LastOp | None:
    """Return what the last operation of a call implies about its result; None if unknown.

    The operations themselves are recorded: autograd knows nothing of frozen models, nor of those
    that run in inference mode.
    """
    with _Recorder() as recorder:
        output = call()
    kind = recorder.kinds.get(_storage(output))
    if kind is None and _SQUASHING & set(recorder.names[-_LAST:]):
        return "squashed"
    if kind is None and _POSITIVE & set(recorder.names[-1:]):
        return "positive"
    return kind


class _Recorder(TorchDispatchMode):
    """Records which operation the numbers in a storage come from."""

    def __init__(self) -> None:
        super().__init__()
        self.kinds: dict[int, LastOp | None] = {}
        self.names: list[str] = []  # of the operations that compute new numbers

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        first = result[0] if isinstance(result, (tuple, list)) and result else result
        if isinstance(first, Tensor):
            name = func.overloadpacket.__name__.removesuffix("_")
            same = name in _SAME_NUMBERS and isinstance(args[0], Tensor)
            before = self.kinds.get(_storage(args[0])) if same else None
            if not same:
                self.names.append(name)
            self.kinds[_storage(first)] = _KINDS.get(name, before)
        return result


def _storage(tensor: Tensor) -> int:
    if tensor.layout is torch.sparse_coo:
        return _storage(tensor._values())
    if tensor.layout is not torch.strided:
        return _storage(tensor.values())
    return tensor.untyped_storage().data_ptr()
