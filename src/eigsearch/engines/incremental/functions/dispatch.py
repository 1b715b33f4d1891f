"""Dispatch: the rule for each torch function on state tensors.

Functions are allowed only if they are known to work row by row, given the dimensions that they work
along: the first dimension of a state tensor indexes its entries, and only gathers along edges,
aggregations of messages and read-outs may mix those. Everything else raises `NotServed`.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

import torch
from torch import Tensor

from eigsearch.engines.incremental.errors import NotServed
from eigsearch.engines.incremental.functions.aggregation import scatter
from eigsearch.engines.incremental.functions.assignment import setitem
from eigsearch.engines.incremental.functions.indexing import getitem, index_select
from eigsearch.engines.incremental.functions.making import FILLED, MAKERS, make_filled, make_like
from eigsearch.engines.incremental.functions.modules import (
    addmm,
    batch_norm,
    cell,
    dropout,
    einsum,
    embedding,
    layer_norm,
    linear,
    matmul,
    one_hot,
)
from eigsearch.engines.incremental.functions.row_tables import (
    ALONG_DIM,
    POINTWISE,
    PROPERTIES,
    VIEWS,
)
from eigsearch.engines.incremental.functions.rowwise import along_dim, pointwise
from eigsearch.engines.incremental.functions.shapes import dimensions, expand, joining, view
from eigsearch.engines.incremental.functions.stacking import stacked_rule
from eigsearch.engines.incremental.functions.structure import (
    compare_ends,
    convert,
    extreme,
    is_floating_point,
    rows_of_structure,
)
from eigsearch.engines.incremental.state_tensor import (
    Function,
    IndexTensor,
    LiftedTensor,
    Run,
    StackedTensor,
    StateTensor,
)


class Lifting(torch.overrides.TorchFunctionMode):
    """Applies the rule for each torch function that a model calls."""

    def __init__(self, run: Run) -> None:
        super().__init__()
        self._run = run

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        try:
            if StackedTensor in types:
                return stacked_rule(self._run, func, args, kwargs)
            if StateTensor in types or IndexTensor in types:
                return _rule(func)(self._run, func, args, kwargs)
            maker = MAKERS.get(getattr(func, "__name__", ""))
            return func(*args, **kwargs) if maker is None else maker(self._run, func, args, kwargs)
        except NotServed as reason:
            self._run.refused = self._run.refused or _sentence(func, reason)
            raise NotServed(self._run.refused) from None


def _sentence(func: Any, reason: NotServed) -> str:
    of_property = func.__name__ == "__get__"
    name = getattr(getattr(func, "__self__", None), "__name__", "") if of_property else ""
    return f"`{name or func.__name__}`: {reason}"


@lru_cache(maxsize=1_024)  # torch functions; each name is looked up once
def _rule(func: Any) -> Function:
    """Return the rule for a torch function on state tensors."""
    name = func.__name__
    rule = _named_rule(name)
    return partial(_viewing, rule) if name in VIEWS else rule


def _named_rule(name: str) -> Function:
    if name in _HANDLERS:
        return _HANDLERS[name]
    if name == "__get__":
        return _property
    if name in POINTWISE:
        return pointwise
    if name in ALONG_DIM:
        return along_dim
    if name.startswith("__i") and name != "__invert__":
        return partial(_in_place, f"__{name[3:]}")
    if name.endswith("_") and not name.endswith("__"):
        return partial(_in_place, name[:-1])
    return _unknown


def _unknown(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    raise NotServed(
        "The incremental engine does not know whether this operation keeps nodes and edges apart."
    )


def _viewing(
    rule: Function, run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Apply a rule that may return a view, and mark both tensors as shared."""
    result = rule(run, func, args, kwargs)
    copies = func.__name__ == "__getitem__" and isinstance(args[1], LiftedTensor)
    if isinstance(args[0], StateTensor) and not copies:
        for each in result if isinstance(result, tuple) else (result,):
            each.shared = args[0].shared = True
    return result


def _property(run: Run, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    name = func.__self__.__name__
    if name == "data":
        return args[0]
    if name not in PROPERTIES:
        raise NotServed("The incremental engine does not know this attribute of a tensor.")
    with torch._C.DisableTorchFunctionSubclass():
        return func(args[0])


def _in_place(
    name: str, run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> StateTensor:
    """Apply the operation that is not in place, and assign its result to the tensor."""
    function = getattr(Tensor, name, None) or getattr(torch.nn.functional, name, None)
    if function is None or not isinstance(args[0], StateTensor):
        raise NotServed(
            "The model changes a tensor in place in a way that the incremental engine does not "
            "know."
        )
    if args[0].shared:
        raise NotServed("The model changes a tensor in place while a view of it may be in use.")
    return args[0].assign(_rule(function)(run, function, args, kwargs))


_HANDLERS: dict[str, Function] = {
    **dict.fromkeys([f"new_{name}" for name in FILLED], make_filled),
    **dict.fromkeys([f"{name}_like" for name in FILLED], make_like),
    **dict.fromkeys(("view", "reshape"), view),
    **dict.fromkeys(("expand", "expand_as", "broadcast_to", "repeat"), expand),
    **dict.fromkeys(("unsqueeze", "squeeze", "flatten", "transpose", "permute"), dimensions),
    **dict.fromkeys(("cat", "concat", "concatenate", "stack"), joining),
    **dict.fromkeys(("linear", "group_norm"), linear),
    **dict.fromkeys(("layer_norm", "rms_norm"), layer_norm),
    **dict.fromkeys(("matmul", "__matmul__", "__rmatmul__", "mm", "bmm"), matmul),
    **dict.fromkeys(("gru_cell", "lstm_cell", "rnn_tanh_cell", "rnn_relu_cell"), cell),
    **dict.fromkeys(("dropout", "alpha_dropout", "feature_alpha_dropout"), dropout),
    **dict.fromkeys(("eq", "ne", "__eq__", "__ne__"), compare_ends),
    **dict.fromkeys(("max", "min"), extreme),
    **dict.fromkeys(("unbind", "flip", "select", "__iter__"), rows_of_structure),
    **dict.fromkeys(
        ("to", "type", "type_as", "float", "double", "half", "bfloat16", "long", "int", "bool",
         "clone", "contiguous", "detach", "cpu", "cuda"), convert,
    ),
    **dict.fromkeys(
        ("scatter_add", "scatter_add_", "index_add", "index_add_", "scatter_reduce",
         "scatter_reduce_", "index_reduce", "index_reduce_"), scatter,
    ),
    "addmm": addmm,
    "batch_norm": batch_norm,
    "is_floating_point": is_floating_point,
    "einsum": einsum,
    "embedding": embedding,
    "one_hot": one_hot,
    "__getitem__": getitem,
    "__setitem__": setitem,
    "index_select": index_select,
}  # fmt: skip
