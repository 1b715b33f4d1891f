"""The last operation of a model, which tells probabilities from scores where numbers cannot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from eigsearch.inference.target import ReturnType

_ACTIVATIONS: dict[str, ReturnType] = {
    "sigmoid": "probs",
    "_softmax": "probs",
    "softmax": "probs",
    "log_sigmoid_forward": "log_probs",
    "log_sigmoid": "log_probs",
    "_log_softmax": "log_probs",
    "log_softmax": "log_probs",
}
# What hands the numbers of its first argument on.
_SAME_NUMBERS = {
    "_reshape_alias", "_to_copy", "_unsafe_view", "alias", "as_strided", "clone", "contiguous",
    "detach", "expand", "flatten", "permute", "reshape", "select", "slice", "squeeze", "t", "to",
    "transpose", "unsqueeze", "view",
}  # fmt: skip


def final_activation(call: Callable[[], Tensor]) -> ReturnType | None:
    """Tell whether what a call returns comes out of a (log-)sigmoid or (log-)softmax.

    The operations themselves are watched: autograd knows nothing of frozen models, nor of those
    that run in inference mode.
    """
    with _Watch() as watch:
        output = call()
    return watch.said.get(_memory(output))


class _Watch(TorchDispatchMode):
    """Remembers which activation, if any, the numbers in a piece of memory come out of."""

    def __init__(self) -> None:
        super().__init__()
        self.said: dict[int, ReturnType | None] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        first = result[0] if isinstance(result, (tuple, list)) and result else result
        if isinstance(first, Tensor):
            name = func.overloadpacket.__name__.removesuffix("_")
            handed_on = name in _SAME_NUMBERS and isinstance(args[0], Tensor)
            before = self.said.get(_memory(args[0])) if handed_on else None
            self.said[_memory(first)] = _ACTIVATIONS.get(name, before)
        return result


def _memory(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()
