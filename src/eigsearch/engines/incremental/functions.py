"""Torch functions on state tensors: what works row by row, what gathers, and what aggregates.

Only what is known to work row by row is let through, by the dimensions that it works along: the
first dimension of a state tensor is its entries, and nothing may mix those but a gather along
edges, an aggregation of messages, and a read-out. Everything else raises `NotServed`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from eigsearch.engines.incremental.context import (
    Bags,
    Layout,
    Messages,
    NotServed,
    Pairs,
    StateTable,
)
from eigsearch.engines.incremental.index.timelines import EdgeList
from eigsearch.engines.incremental.pooling import pool_nodes, reduce_bags
from eigsearch.engines.incremental.state_tensor import (
    NUM_NODES,
    Count,
    IndexTensor,
    LiftedTensor,
    Pending,
    Run,
    StateTensor,
)

Function = Callable[..., Any]

_POINTWISE = {
    "abs", "absolute", "acos", "acosh", "add", "addcdiv", "addcmul", "asin", "asinh", "atan",
    "atan2", "atanh", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "ceil", "celu",
    "clamp", "clamp_max", "clamp_min", "clip", "copysign", "cos", "cosh", "deg2rad", "digamma",
    "div", "divide", "elu", "erf", "erfc", "exp", "exp2", "expm1", "fix", "float_power",
    "floor", "floor_divide", "fmax", "fmin", "fmod", "frac", "ge", "gelu", "greater",
    "greater_equal", "gt", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "heaviside",
    "hypot", "isclose", "isfinite", "isinf", "isnan", "isneginf", "isposinf", "le",
    "leaky_relu", "lerp", "less", "less_equal", "lgamma", "log", "log10", "log1p", "log2",
    "logaddexp", "logical_and", "logical_not", "logical_or", "logical_xor", "logit",
    "logsigmoid", "lt", "masked_fill", "maximum", "minimum", "mish", "mul", "multiply",
    "nan_to_num", "neg", "negative", "not_equal", "polar", "positive", "pow", "prelu",
    "reciprocal", "relu", "relu6", "remainder", "round", "rsqrt", "rsub", "selu",
    "sgn", "sigmoid", "sign", "silu", "sin", "sinc", "sinh", "softplus", "softshrink",
    "softsign", "sqrt", "square", "sub", "subtract", "tan", "tanh", "tanhshrink", "threshold",
    "true_divide", "trunc", "where", "xlogy", "__abs__", "__add__", "__and__", "__div__",
    "__floordiv__", "__ge__", "__gt__", "__invert__", "__le__", "__lt__", "__mod__", "__mul__",
    "__neg__", "__or__", "__pos__", "__pow__", "__radd__", "__rand__", "__rdiv__",
    "__rfloordiv__", "__rmod__", "__rmul__", "__ror__", "__rpow__", "__rsub__", "__rtruediv__",
    "__rxor__", "__sub__", "__truediv__", "__xor__", "requires_grad_",
}  # fmt: skip
# Where `dim` stands among the arguments, and what it is by default; None is the whole tensor.
_ALONG_DIM: dict[str, tuple[int, int | None]] = {
    "all": (1, None), "amax": (1, None), "amin": (1, None), "any": (1, None), "argmax": (1, None),
    "argmin": (1, None), "argsort": (1, -1), "chunk": (2, 0), "cosine_similarity": (2, 1),
    "count_nonzero": (1, None), "cummax": (1, None), "cumprod": (1, None), "cumsum": (1, None),
    "flip": (1, None), "glu": (1, -1), "linalg_vector_norm": (2, None), "log_softmax": (1, None),
    "logsumexp": (1, None), "max": (1, None), "mean": (1, None), "median": (1, None),
    "min": (1, None), "nansum": (1, None), "narrow": (1, None), "norm": (2, None),
    "normalize": (2, 1), "pairwise_distance": (9, -1), "prod": (1, None),
    "repeat_interleave": (2, None), "select": (1, None), "softmax": (1, None),
    "softmin": (1, None), "sort": (1, -1), "split": (2, 0), "std": (1, None), "sum": (1, None),
    "tensor_split": (2, 0), "topk": (2, -1), "unbind": (1, 0), "unflatten": (1, None),
    "var": (1, None), "vector_norm": (2, None),
}  # fmt: skip
# What may give another view of the same numbers, which an operation in place would change as well.
_VIEWS = {
    "view", "reshape", "unsqueeze", "squeeze", "expand", "expand_as", "broadcast_to", "transpose",
    "permute", "flatten", "unflatten", "__getitem__", "select", "narrow", "chunk", "split",
    "tensor_split", "unbind", "detach", "contiguous", "to", "type_as",
}  # fmt: skip
_PROPERTIES: tuple[str, ...] = (
    "is_cuda",
    "is_leaf",
    "is_meta",
    "is_nested",
    "is_quantized",
    "grad",
    "grad_fn",
)
_PROPERTIES += ("is_mkldnn", "is_mps", "is_xpu", "is_sparse_csr", "itemsize", "names", "_version")


def apply(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return what a torch function gives on state tensors, or raise NotServed."""
    result = _apply(run, func, args, kwargs)
    copies = func.__name__ == "__getitem__" and isinstance(args[1], LiftedTensor)
    if func.__name__ in _VIEWS and isinstance(args[0], StateTensor) and not copies:
        for view in result if isinstance(result, tuple) else (result,):
            view.shared = args[0].shared = True
    return result


def _apply(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    name = func.__name__
    if name in _HANDLERS:
        return _HANDLERS[name](run, func, args, kwargs)
    if name == "__get__":
        return _property(func, args[0])
    plain = name[2:-2] if name.startswith("__i") else name[:-1] if name.endswith("_") else ""
    if plain and not name.endswith("__") and name not in _POINTWISE:
        return _in_place(run, plain, args, kwargs)
    if name.startswith("__i") and name != "__invert__":
        return _in_place(run, f"__{plain[1:]}__", args, kwargs)
    if name in _POINTWISE:
        return _pointwise(run, func, args, kwargs)
    if name in _ALONG_DIM:
        return _along_dim(run, func, args, kwargs)
    raise NotServed("It is not known to work row by row.")


def _property(func: Any, tensor: LiftedTensor) -> Any:
    name = func.__self__.__name__
    if name == "data":
        return tensor
    if name not in _PROPERTIES:
        raise NotServed("It is not known to work row by row.")
    with torch._C.DisableTorchFunctionSubclass():
        return func(tensor)


# Row by row ---------------------------------------------------------------------------------------


def _in_place(run: Run, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> StateTensor:
    """Carry out the operation as usual, and let the tensor take over the result."""
    function = getattr(Tensor, name, None) or getattr(torch.nn.functional, name, None)
    if function is None or not isinstance(args[0], StateTensor):
        raise NotServed("It writes values of nodes or edges into another tensor.")
    if args[0].shared:
        raise NotServed("It changes a tensor in place that has another view.")
    return args[0].assign(apply(run, function, args, kwargs))


def _states(values: Any) -> list[StateTensor]:
    """Return the state tensors among arguments, also within lists."""
    states: list[StateTensor] = []
    for value in values:
        if isinstance(value, StateTensor):
            states.append(value)
        elif isinstance(value, (list, tuple)):
            states += _states(value)
        elif isinstance(value, (IndexTensor, Count)):
            raise NotServed("It computes with the structure of the graph.")
    return states


def _rowwise(
    run: Run, func: Function, args: Sequence[Any], kwargs: dict[str, Any], states: list[StateTensor]
) -> Any:
    """Apply a function to the distinct rows of all state tensors, laid out alike."""
    if len(states) == 1:
        state = whole(run, states[0])
        entries, rows = state.entries, {id(states[0]): state.value}
    else:
        entries, values = align(run, states)
        rows = {id(state): value for state, value in zip(states, values, strict=True)}
    if kwargs:
        kwargs = {key: _replaced(value, rows) for key, value in kwargs.items()}
    return _wrapped(run, entries, func(*_replaced(args, rows), **kwargs))


def align(run: Run, states: Sequence[StateTensor]) -> tuple[Layout, list[Tensor]]:
    """Return a common layout of state tensors, and the rows of each on it."""
    if len(states) == 2 and states[0].shape[0] == states[1].shape[0]:
        pending, own = states if states[0].pending is not None else states[::-1]
        if pending.pending is not None and own.pending is None and _combines(pending.pending, own):
            return _aggregate_with(run, pending, own, states)
    states = [whole(run, state) for state in states]
    if len({state.shape[0] for state in states}) > 1:
        lists = [
            state.entries.space
            for state in states
            if not isinstance(state.entries.space, StateTable)
        ]
        edges = (
            lists[0].edges
            if lists and isinstance(lists[0], Messages)
            else lists[0]
            if lists
            else None
        )
        states = [
            _as_messages(run, state, edges if isinstance(edges, EdgeList) else None)
            for state in states
        ]
    first = states[0].entries
    if all(state.entries is first for state in states):
        return first, [state.value for state in states]
    context = run.context
    entries, rows = context.once(context.joined, *(state.entries for state in states))
    values = [state.value for state in states]
    return entries, [
        v if r is None else v.index_select(0, r) for v, r in zip(values, rows, strict=True)
    ]


def _combines(pending: Pending, own: StateTensor) -> bool:
    """Return whether an aggregation at targets can be carried out on common rows."""
    table = isinstance(own.entries.space, StateTable)
    return pending.side == 1 and own.entries.count > 1 and table and own.factor is None


def _aggregate_with(
    run: Run, pending: StateTensor, own: StateTensor, states: Sequence[StateTensor]
) -> tuple[Layout, list[Tensor]]:
    """Carry out an aggregation on the rows of what comes out when it is combined."""
    context, aggregation = run.context, pending.pending
    assert aggregation is not None
    bags = context.once(context.bags, aggregation.side, own.entries, *aggregation.layouts)
    assert bags.own is not None
    rows = {id(own): own.value.index_select(0, bags.own), id(pending): aggregation.reduce(bags)}
    return bags.layout, [rows[id(state)] for state in states]


def whole(run: Run, state: StateTensor) -> StateTensor:
    """Return a state tensor whose factor, where it has one, is multiplied in."""
    if state.factor is None:
        return state
    factor, bare = state.factor, run.state(state.entries, state.value)
    entries, (left, right) = align(run, [factor, bare])
    return state.assign(run.state(entries, left * right))


def _replaced(value: Any, rows: dict[int, Tensor]) -> Any:
    if isinstance(value, StateTensor):
        return rows[id(value)]
    if isinstance(value, (tuple, list)):
        return type(value)([_replaced(item, rows) for item in value])
    return value


def _wrapped(run: Run, entries: Layout, result: Any) -> Any:
    if isinstance(result, Tensor):
        if result.dim() == 0 or result.size(0) != entries.count:
            raise NotServed("It does not keep rows apart.")
        return run.state(entries, result)
    if isinstance(result, (tuple, list)):
        items = tuple(_wrapped(run, entries, item) for item in result)
        return type(result)(items) if hasattr(result, "values") else items
    raise NotServed("It gives no tensor.")


def _pointwise(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Apply a function of single elements; other tensors must not vary between entries."""
    if kwargs:
        args, kwargs, keeper = _without_inplace(args, kwargs)
        if keeper is not None:
            return keeper.assign(_pointwise(run, func, args, kwargs))
    if func.__name__ == "where" and len(args) + len(kwargs) < 3:
        raise NotServed("It picks entries by their values.")
    states = _states((*args, *kwargs.values()))
    tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, Tensor)]
    ndim = max(tensor.dim() for tensor in tensors)
    for tensor in tensors:
        if isinstance(tensor, StateTensor):
            if tensor.dim() != ndim:
                raise NotServed("It broadcasts rows against each other.")
        elif tensor.dim() == ndim and tensor.size(0) != 1:
            raise NotServed("It combines rows with those of another tensor.")
    if len(states) == 2 and func.__name__ in ("mul", "__mul__", "__rmul__"):
        scaled = _scaled(run, *states)
        if scaled is not None:
            return scaled
    return _rowwise(run, func, args, kwargs, states)


def _without_inplace(
    args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any], StateTensor | None]:
    """Return the arguments without `inplace`, and the tensor that is to take the result."""
    if kwargs.get("out") is not None or kwargs.get("training") is True:
        raise NotServed("It draws numbers or writes into a given tensor.")
    if kwargs.get("inplace"):
        if args[0].shared:
            raise NotServed("It changes a tensor in place that has another view.")
        return args, {**kwargs, "inplace": False}, args[0]
    return args, kwargs, None


def _scaled(run: Run, left: StateTensor, right: StateTensor) -> StateTensor | None:
    """Return messages that are yet to be multiplied by a column, which a sum does along the way."""
    if max(left.shape[1:], default=1) > 1:
        left, right = right, left
    if (
        max(left.shape[1:], default=1) > 1
        or left.factor is not None
        or right.factor is not None
        or left.entries is right.entries
        or min(left.entries.count, right.entries.count) == 1
        or not isinstance(right.entries.space, Messages)
        or not isinstance(left.entries.space, (Messages, EdgeList))
        or left.dtype != right.dtype
    ):
        return None
    return run.state(right.entries, right.value, left)


def _along_dim(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Apply a function that works along dimensions other than the first."""
    position, default = _ALONG_DIM[func.__name__]
    if len(args) > 1 and isinstance(args[1], Tensor) and func.__name__ in ("max", "min"):
        return _pointwise(run, func, args, kwargs)
    dims = kwargs.get(
        "dim", kwargs.get("dims", args[position] if len(args) > position else default)
    )
    if func.__name__ == "flip":
        dims = _sizes(args[1:]) or dims
    states = _states((*args, *kwargs.values()))
    _require_inner(dims, states[0].dim())
    if len(states) > 1 and func.__name__ not in ("cosine_similarity", "pairwise_distance"):
        raise NotServed("It works along a dimension by values of nodes or edges.")
    if any(isinstance(a, Tensor) and not isinstance(a, StateTensor) for a in args):
        raise NotServed("It combines rows with those of another tensor.")
    return _rowwise(run, func, args, kwargs, states)


def _require_inner(dims: Any, ndim: int) -> None:
    """Raise NotServed unless dimensions are given and the first is not among them."""
    if dims is None or any(
        d % ndim == 0 for d in (dims if isinstance(dims, (tuple, list)) else (dims,))
    ):
        raise NotServed("It works along the entries of nodes or edges.")


def _joining(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`cat` and `stack` along features; along entries only self-loops behind edges."""
    tensors = list(args[0] if args else kwargs["tensors"])
    dim = kwargs.get("dim", args[1] if len(args) > 1 else 0)
    stacks = func.__name__ == "stack"
    if any(isinstance(tensor, IndexTensor) for tensor in tensors):
        return _join_structure(run, tensors, dim, stacks)
    ndim = tensors[0].dim() + stacks
    if not stacks and dim % ndim == 0 and len(tensors) == 2:
        return _append_loops(run, *tensors)
    if dim % ndim == 0 or not all(isinstance(tensor, StateTensor) for tensor in tensors):
        raise NotServed("It joins rows with others.")
    entries, values = align(run, tensors)
    values = [value.expand(entries.count, *value.shape[1:]) for value in values]
    return run.state(entries, func(values, dim=dim))


def _join_structure(run: Run, tensors: list[Any], dim: int, stacks: bool) -> IndexTensor:
    if len(tensors) != 2 or not all(isinstance(tensor, IndexTensor) for tensor in tensors):
        raise NotServed("It builds a structure of its own.")
    first, last = tensors
    roles = first.role, last.role
    ends = roles == ("end", "end") and first.edges is last.edges and first.side != last.side
    if stacks and dim == 0 and ends:
        return run.index("edge_index", first.edges, first.side)
    if stacks and dim == 0 and roles == ("nodes", "nodes"):
        return run.index("loops")
    if stacks and dim == 0 and roles == ("nodes", "batch"):
        return run.index("membership")
    appends = roles in (("edge_index", "loops"), ("end", "nodes"))
    if not stacks and dim in (-1, len(first.shape) - 1) and appends:
        looped = run.context.once(EdgeList.with_loops, first.edges)
        return run.index(first.role, looped, first.side)
    raise NotServed("It builds a structure of its own.")


def _append_loops(run: Run, edge: Any, node: Any) -> StateTensor:
    """Return values of edges followed by those of nodes, which are for their self-loops."""
    if not (isinstance(edge, StateTensor) and isinstance(node, StateTensor)):
        raise NotServed("It joins rows with others.")
    edge, node, context = whole(run, edge), whole(run, node), run.context
    space, table = edge.entries.space, node.entries.space
    if not isinstance(space, (EdgeList, Messages)) or not isinstance(table, StateTable):
        raise NotServed("It joins rows with others.")
    entries = context.once(context.with_loops, edge.entries, node.entries)
    return run.state(entries, torch.cat([edge.value, node.value]))


# Shapes -------------------------------------------------------------------------------------------


def _sizes(args: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(args[0]) if len(args) == 1 and isinstance(args[0], (tuple, list)) else tuple(args)


def _view(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`view` and `reshape` that leave the first dimension to the entries."""
    tensor, sizes = args[0], _sizes(args[1:]) or tuple(kwargs.get("size", kwargs.get("shape", ())))
    if isinstance(tensor, IndexTensor):
        return _view_structure(run, tensor, sizes)
    if not isinstance(tensor, StateTensor) or not sizes or isinstance(sizes[0], torch.dtype):
        raise NotServed("It is not known to keep rows apart.")
    width, given = math.prod(tensor.shape[1:]), math.prod(sizes[1:])
    leads = sizes[0] == -1 if not run.stands_for(sizes[0]) else sizes[0] == tensor.shape[0]
    if not leads or (given != width if -1 not in sizes[1:] else sizes[0] == -1):
        raise NotServed("It rearranges rows.")
    state, rest = whole(run, tensor), list(sizes[1:])
    if -1 in rest:
        rest[rest.index(-1)] = width // -given if given else 0
    return run.state(state.entries, state.value.reshape(state.entries.count, *rest))


def _view_structure(run: Run, index: IndexTensor, sizes: tuple[Any, ...]) -> IndexTensor:
    if index.role in ("end", "batch", "nodes") and len(index.shape) == 1:
        if sizes == (1, -1) and index.role == "nodes":
            return run.reshaped(index, torch.Size((1, index.shape[0])))
        if sizes[0] in (-1, index.shape[0]) and all(size == 1 for size in sizes[1:]):
            return run.reshaped(index, torch.Size((index.shape[0], *sizes[1:])))
    if sizes == (-1,) and index.role in ("end", "batch") and math.prod(index.shape[1:]) == 1:
        return run.reshaped(index, index.shape[:1])
    raise NotServed("It rearranges the structure.")


def _expand(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`expand`, `expand_as`, `broadcast_to` and `repeat` of all but the first dimension."""
    tensor, sizes = args[0], _sizes(args[1:]) or tuple(kwargs["size"])
    if func.__name__ == "expand_as":
        sizes = tuple(args[1].shape)
    if isinstance(tensor, IndexTensor):
        return _expand_structure(run, func.__name__, tensor, sizes)
    if not isinstance(tensor, StateTensor):
        return _make_expanded(run, func, args, kwargs)
    first = (1,) if func.__name__ == "repeat" else (-1, tensor.shape[0])
    if len(sizes) != tensor.dim() or sizes[0] not in first:
        raise NotServed("It repeats rows.")
    state = whole(run, tensor)
    if func.__name__ == "repeat":
        return run.state(state.entries, state.value.repeat(*sizes))
    return run.state(state.entries, state.value.expand(-1, *sizes[1:]))


def _expand_structure(
    run: Run, name: str, index: IndexTensor, sizes: tuple[Any, ...]
) -> IndexTensor:
    turned = index.role == "nodes" and len(index.shape) == 2
    if turned and sizes in ((2, 1), (2, -1), (2, NUM_NODES)):
        return run.index("loops")
    fits = len(sizes) == len(index.shape) and sizes[0] in (-1, index.shape[0])
    if name != "repeat" and fits and index.role in ("end", "batch"):
        return run.reshaped(index, torch.Size((index.shape[0], *sizes[1:])))
    raise NotServed("It rearranges the structure.")


def _dimensions(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`unsqueeze`, `squeeze`, `flatten`, `transpose` and `permute` behind the first dimension."""
    name, tensor = func.__name__, args[0]
    given = (*args[1:], *kwargs.values())
    if isinstance(tensor, IndexTensor):
        if name == "unsqueeze" and given[0] % (tensor.dim() + 1):
            return run.reshaped(tensor, torch.Size((*tensor.shape, 1)))
        if name == "unsqueeze" and tensor.role == "nodes" and tensor.dim() == 1:
            return run.reshaped(tensor, torch.Size((1, *tensor.shape)))
        raise NotServed("It rearranges the structure.")
    ndim = tensor.dim() + (name == "unsqueeze")
    dims = list(_sizes(given))
    if name == "squeeze" and not dims:
        dims = [d for d in range(1, ndim) if tensor.shape[d] == 1]
    if name == "flatten":
        dims = dims[:1] or [0]
    if name == "permute":
        if dims[0] % ndim:
            raise NotServed("It rearranges rows.")
    elif any(dim % ndim == 0 for dim in dims):
        raise NotServed("It rearranges rows.")
    state = whole(run, tensor)
    if name == "squeeze":
        return run.state(state.entries, state.value.squeeze(tuple(dims)))
    return run.state(state.entries, func(state.value, *args[1:], **kwargs))


# Modules ------------------------------------------------------------------------------------------


def _plain_but(tensors: Sequence[Any]) -> None:
    if any(isinstance(tensor, (LiftedTensor, Count)) for tensor in tensors):
        raise NotServed("It takes values of nodes or edges for parameters.")


def _linear(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`linear`, and whatever else takes rows of at least one feature and plain parameters."""
    name = kwargs.get("input", args[0] if args else None)
    if not isinstance(name, StateTensor) or name.dim() < 2:
        raise NotServed("It works along the entries of nodes or edges.")
    others = [value for value in (*args, *kwargs.values()) if value is not name]
    _plain_but(others)
    return _rowwise(run, func, args, kwargs, [name])


def _matmul(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Matrix products of each row's features, or of a matrix for each row."""
    left, right = args if func.__name__ != "__rmatmul__" else args[::-1]
    states = _states((left, right))
    if len(states) == 2:
        rowwise = left.dim() == right.dim() >= 3
    elif states[0] is left:
        rowwise = left.dim() >= 2 and (right.dim() <= 2 or right.dim() < left.dim())
    else:
        rowwise = right.dim() >= 3 and left.dim() < right.dim()
    if not rowwise or kwargs:
        raise NotServed("It multiplies along the entries of nodes or edges.")
    return _rowwise(run, torch.matmul, (left, right), {}, states)


def _addmm(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    own, left, right = args
    states = _states((own, left))
    if not isinstance(left, StateTensor) or any(state.dim() != 2 for state in states):
        raise NotServed("It multiplies along the entries of nodes or edges.")
    if not isinstance(own, StateTensor) and own.dim() == 2 and own.size(0) != 1:
        raise NotServed("It combines rows with those of another tensor.")
    _plain_but([right])
    return _rowwise(run, func, args, kwargs, states)


def _einsum(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`einsum` whose first index belongs to the entries in all state tensors and in the result."""
    equation, *operands = args
    operands = list(operands[0]) if isinstance(operands[0], (list, tuple)) else operands
    inputs, _, output = equation.replace(" ", "").partition("->")
    subscripts, states = inputs.split(","), _states(operands)
    letter = output[:1]
    for subscript, operand in zip(subscripts, operands, strict=True):
        leads = subscript[:1] == letter and letter not in subscript[1:]
        if leads if not isinstance(operand, StateTensor) else not leads:
            raise NotServed("It sums along the entries of nodes or edges.")
    if not letter.isalpha() or any(
        letter in s
        for s, o in zip(subscripts, operands, strict=True)
        if not isinstance(o, StateTensor)
    ):
        raise NotServed("It sums along the entries of nodes or edges.")
    entries, values = align(run, states)
    rows = iter(value.expand(entries.count, *value.shape[1:]) for value in values)
    taken = [next(rows) if isinstance(operand, StateTensor) else operand for operand in operands]
    return _wrapped(run, entries, torch.einsum(equation, *taken))


def _batch_norm(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    given = dict(zip(("input", "mean", "var", "weight", "bias", "training"), args, strict=False))
    training = kwargs.get("training", given.get("training", False))
    if training or kwargs.get("running_mean", given.get("mean")) is None:
        raise NotServed("It normalises with statistics of the batch.")
    return _linear(run, func, args, kwargs)


def _layer_norm(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    shape = kwargs.get("normalized_shape", args[1] if len(args) > 1 else ())
    if len(shape) >= args[0].dim():
        raise NotServed("It normalises along the entries of nodes or edges.")
    return _linear(run, func, args, kwargs)


def _embedding(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if kwargs.get("max_norm", args[3] if len(args) > 3 else None) is not None:
        raise NotServed("It changes its parameters.")
    _plain_but(args[1:])
    return _rowwise(run, func, args, kwargs, _states(args[:1]))


def _one_hot(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    classes = kwargs.get("num_classes", args[1] if len(args) > 1 else -1)
    if isinstance(classes, Count) or classes < 0:
        raise NotServed("Its width depends on the values of nodes or edges.")
    return _rowwise(run, func, args, kwargs, _states(args[:1]))


def _cell(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Recurrent cells: one step for each row."""
    states = _states(args)
    if not all(state.dim() == 2 for state in states) or isinstance(args[0], (list, tuple)):
        raise NotServed("It works along the entries of nodes or edges.")
    hidden = args[1] if isinstance(args[1], (list, tuple)) else (args[1],)
    if not all(isinstance(value, StateTensor) for value in (args[0], *hidden)):
        raise NotServed("It combines rows with those of another tensor.")
    entries, values = align(run, states)
    rows = {
        id(state): value.expand(entries.count, -1)
        for state, value in zip(states, values, strict=True)
    }
    return _wrapped(run, entries, func(*_replaced(args, rows), **kwargs))


def _dropout(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if kwargs.get("training", args[2] if len(args) > 2 else True):
        raise NotServed("It draws random numbers.")
    return args[0]


# Structure ----------------------------------------------------------------------------------------


def _getitem(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Indexing: features of rows, ends of edges, messages, or a subset of edges."""
    tensor, key = args
    if isinstance(key, LiftedTensor):
        return _take(run, tensor, key)
    if isinstance(tensor, IndexTensor):
        return _structure_item(run, tensor, key)
    key = key if isinstance(key, tuple) else (key,)
    if not isinstance(tensor, StateTensor):
        raise NotServed("It reads another tensor by values of nodes or edges.")
    if any(isinstance(item, (LiftedTensor, Count)) for item in key):
        raise NotServed("It picks rows.")
    if isinstance(key[0], slice) and isinstance(key[0].stop, Count):
        if key[0].stop != tensor.shape[0]:
            raise NotServed("It picks rows.")
        key = (slice(key[0].start, None, key[0].step), *key[1:])
    full = key[0] is Ellipsis and len([k for k in key if k is not None]) - 1 < tensor.dim()
    if not full and not _is_full(key[0]):
        raise NotServed("It picks rows.")
    state = whole(run, tensor)
    return _wrapped(run, state.entries, state.value[key])


def _structure_item(run: Run, index: IndexTensor, key: Any) -> IndexTensor:
    """Return an end of edges, edges turned round, or the edges that a mask keeps."""
    if isinstance(key, tuple) and len(key) == 2:
        picks = _is_full(key[0]) and isinstance(key[1], StateTensor)
        if picks and index.role == "edge_index":
            return run.index("edge_index", _subset(run, index, key[1]), index.side)
        key = key[0] if _is_full(key[1]) else key
    if index.role == "edge_index" and isinstance(key, int) and -2 <= key < 2:
        return run.index("end", index.edges, (key % 2) ^ index.side)
    if index.role == "edge_index" and isinstance(key, list) and key == [1, 0]:
        return run.index("edge_index", index.edges, 1 - index.side)
    if index.role in ("loops", "membership") and isinstance(key, int):
        return run.index("batch" if index.role == "membership" and key % 2 else "nodes")
    raise NotServed("It reads the structure in a way that is not known.")


def _is_full(key: Any) -> bool:
    """Return whether a slice takes all entries."""
    if not isinstance(key, slice) or key.step not in (None, 1):
        return False
    return key.start in (None, 0) and key.stop is None


def _take(run: Run, tensor: Any, key: Any) -> Any:
    """Return `tensor[key]` for values or structure as key."""
    if not isinstance(key, StateTensor):
        return _gather(run, tensor, key)
    if key.dtype == torch.bool:
        edges = _edges_under(key)
        if isinstance(tensor, IndexTensor) and tensor.role == "end" and edges is tensor.edges:
            return run.index("end", _subset(run, tensor, key), tensor.side)
        if isinstance(tensor, StateTensor) and edges is not None:
            return _subset_values(run, tensor, key, edges)
        raise NotServed("It picks nodes by their values.")
    if isinstance(tensor, LiftedTensor):
        raise NotServed("It picks rows by values of nodes or edges.")
    return _rowwise(run, lambda rows: tensor[rows], (key,), {}, [key])


def _edges_under(mask: StateTensor) -> EdgeList | None:
    """Return the edges that a mask is about, if it does not change over time."""
    space = mask.entries.space
    return space if isinstance(space, EdgeList) and mask.dim() == 1 else None


def _subset(run: Run, index: IndexTensor, mask: StateTensor) -> EdgeList:
    """Return the edges that a mask keeps; the same mask gives the same object."""
    edges = _edges_under(mask)
    if mask.dtype != torch.bool or edges is None or edges is not index.edges:
        raise NotServed("It picks edges by what changes with candidates.")
    return _kept(run, mask, edges)


def _kept(run: Run, mask: StateTensor, edges: EdgeList) -> EdgeList:
    kept = mask.value.cpu().numpy().take(mask.entries.inverse)
    return run.context.once(run.context.subset, edges, kept.tobytes())


def _subset_values(
    run: Run, tensor: StateTensor, mask: StateTensor, edges: EdgeList
) -> StateTensor:
    """Return the values of the edges that a mask keeps."""
    kept, state = _kept(run, mask, edges), whole(run, tensor)
    if run.num_entries(state.entries) != run.num_edges(edges):
        raise NotServed("It picks nodes by their values.")
    if kept is edges:
        return state
    return run.state(run.context.once(run.context.restricted, state.entries, kept), state.value)


def _replace_edges(run: Run, old: StateTensor, mask: StateTensor, new: StateTensor) -> StateTensor:
    """Return values of edges, replaced where a mask picks them."""
    edges, old = _edges_under(mask), whole(run, old)
    if edges is None:
        raise NotServed("It writes to single rows.")
    kept = _kept(run, mask, edges)
    new = _as_messages(run, whole(run, new), kept)
    if run.num_edges(kept) != new.shape[0] or run.num_edges(edges) != old.shape[0]:
        raise NotServed("It writes to single rows.")
    if kept is edges:
        return new
    entries = run.context.once(run.context.replaced, old.entries, new.entries)
    return run.state(entries, torch.cat([old.value, new.value]))


def _as_messages(run: Run, state: StateTensor, edges: EdgeList | None) -> StateTensor:
    """Return values of nodes as those of their self-loops, which some layers take for the same."""
    if edges is None or not edges.is_identity or not isinstance(state.entries.space, StateTable):
        return state
    return _gather(run, state, run.index("end", edges, 1))


def _index_select(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tensor, dim, index = (*args, *kwargs.values())
    if (
        isinstance(tensor, LiftedTensor)
        and dim % tensor.dim()
        and not isinstance(index, LiftedTensor)
    ):
        return _rowwise(run, func, args, kwargs, _states((tensor,)))
    if dim % tensor.dim() or not isinstance(index, LiftedTensor):
        raise NotServed("It picks rows.")
    return _take(run, tensor, index)


def _gather(run: Run, tensor: Any, index: Any) -> Any:
    """Return what is at the ends of edges, or for each node what its candidate has."""
    context = run.context
    if index.dim() > 1:
        raise NotServed("It picks single elements by the structure.")
    if index.role == "nodes" and isinstance(tensor, StateTensor):
        return tensor
    if index.role == "batch" and not isinstance(tensor, LiftedTensor):
        return _spread_candidates(run, tensor)
    if index.role != "end" or not isinstance(tensor, StateTensor):
        raise NotServed("It reads the structure in a way that is not known.")
    assert index.edges is not None
    state = whole(run, tensor)
    if state.entries.count == 1:
        return run.constant(state.value, run.num_edges(index.edges))
    if not isinstance(state.entries.space, StateTable):
        raise NotServed("It passes messages that depend on the whole graph.")
    assert index.edges is not None
    entries = context.once(context.gathered, state.entries, index.edges, index.side)
    return run.state(entries, state.value)


def _spread_candidates(run: Run, tensor: Tensor) -> StateTensor:
    """Return for each node of each candidate what the candidate has."""
    context = run.context
    if tensor.size(0) != context.num_candidates:
        raise NotServed("It reads another tensor by `batch`.")
    context.make_room(0, context.num_pairs)
    entries = Layout(context.pairs, context.pairs.candidate, context.num_candidates)
    return run.state(entries, tensor)


def _compare_ends(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`row == col`: which edges are self-loops; values are compared as usual."""
    if not any(isinstance(value, IndexTensor) for value in args):
        return _pointwise(run, func, args, kwargs)
    left, right = args
    ends = isinstance(left, IndexTensor) and isinstance(right, IndexTensor)
    if not ends or left.role != "end" or right.role != "end" or left.edges is not right.edges:
        raise NotServed("It computes with the numbers of nodes.")
    equal = left.edges.is_loop if left.side != right.side else np.ones(len(left.edges), bool)
    value = torch.tensor([False, True], device=run.context.device)
    wanted = equal if func.__name__ in ("eq", "__eq__") else ~equal
    return run.state(Layout(left.edges, wanted.astype(np.int64), 2), value)


def _setitem(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Assignment: to features of rows, to rows that a mask picks, or to nodes with self-loops."""
    tensor, key, value = args
    if not isinstance(tensor, StateTensor):
        raise NotServed("It writes values of nodes or edges into another tensor.")
    if isinstance(key, IndexTensor):
        tensor.assign(_at_ends(run, tensor, key, value))
    elif (
        isinstance(key, StateTensor) and key.dtype == torch.bool and isinstance(value, StateTensor)
    ):
        tensor.assign(_replace_edges(run, tensor, key, value))
    elif isinstance(key, StateTensor) and key.dtype == torch.bool:
        mask = apply(run, Tensor.view, (key, -1, *[1] * (tensor.dim() - key.dim())), {})
        tensor.assign(apply(run, torch.where, (mask, _scalar(value), tensor), {}))
    else:
        first = key[0] if isinstance(key, tuple) else key
        if not _is_full(first) or _states((value,)):
            raise NotServed("It writes to single rows.")
        _plain_but([value])
        state = whole(run, tensor)
        changed = state.value.clone()
        changed[key] = value
        tensor.assign(run.state(state.entries, changed))


def _scalar(value: Any) -> Any:
    if isinstance(value, Tensor) and value.dim():
        raise NotServed("It writes to single rows.")
    return value


def _at_ends(run: Run, old: StateTensor, index: IndexTensor, value: Any) -> StateTensor:
    """Return values of nodes, replaced where an edge ends; no node may have two of them."""
    edges = index.edges
    if index.role != "end" or edges is None or not isinstance(value, StateTensor):
        raise NotServed("It writes to single rows.")
    if len(edges) == 0:
        return old
    end = edges.target if index.side else edges.source
    if np.bincount(end).max() > 1:
        raise NotServed("It writes to one node twice.")
    ones = run.constant(torch.ones(1, device=old.device), run.num_edges(edges))
    found = _aggregate(run, ones, index, "sum")
    new = _aggregate(run, value, index, "sum")
    mask = apply(
        run, Tensor.view, (apply(run, Tensor.gt, (found, 0), {}), -1, *[1] * (old.dim() - 1)), {}
    )
    return apply(run, torch.where, (mask, new, old), {})


def _extreme(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`max` and `min`: of structure the number of nodes or candidates, of values along a dim."""
    tensor = args[0]
    if isinstance(tensor, StateTensor) and len(args) == 1 and not kwargs:
        return _common_extreme(run, tensor, func.__name__)
    if not isinstance(tensor, IndexTensor):
        return _along_dim(run, func, args, kwargs)
    if len(args) > 1 or kwargs or tensor.role == "loops":
        raise NotServed("It reads the structure in a way that is not known.")
    size = run.context.num_candidates if tensor.role == "batch" else NUM_NODES
    return torch.tensor(size - 1 if func.__name__ == "max" else 0, device=run.context.device)


def _common_extreme(run: Run, tensor: StateTensor, mode: str) -> Tensor:
    """Return the extreme value of all entries, if all candidates have the same.

    Nodes without messages count as zero here, so that only what lies beyond is certain. Where
    single nodes are explained, those out of their reach have no states.
    """
    if run.context.instances[0].node is not None:
        raise NotServed("It takes an extreme of all entries.")
    state = (
        apply(run, torch.amax if mode == "max" else torch.amin, (tensor, -1), {})
        if tensor.dim() > 1
        else whole(run, tensor)
    )
    space = state.entries.space
    if isinstance(space, (EdgeList, Messages)):
        edges = space if isinstance(space, EdgeList) else space.edges
        state = _aggregate(run, state, run.index("end", edges, 1), mode)
    found = pool_nodes(run.context, state.entries, state.value, mode)
    if bool((found != found[0]).any()) or not bool(found[0] > 0 if mode == "max" else found[0] < 0):
        raise NotServed("It takes an extreme of all entries, which differs between candidates.")
    return found[0]


def _is_floating_point(run: Run, func: Function, args: tuple[Any, ...], _: dict[str, Any]) -> bool:
    return bool(args[0].dtype.is_floating_point)


def _rows_of_structure(
    run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """`unbind`, `flip` and the like of `edge_index`; of values as along any dimension."""
    tensor, name = args[0], func.__name__
    if not isinstance(tensor, IndexTensor):
        if name == "__iter__":
            raise NotServed("It goes through nodes or edges one by one.")
        return _along_dim(run, func, args, kwargs)
    given = _sizes((*args[1:], *kwargs.values()))
    if tensor.role == "edge_index":
        if name in ("unbind", "__iter__") and given in ((), (0,)):
            ends = [run.index("end", tensor.edges, side ^ tensor.side) for side in (0, 1)]
            return iter(ends) if name == "__iter__" else tuple(ends)
        if name == "flip" and given in ((0,), (-2,)):
            return run.index("edge_index", tensor.edges, 1 - tensor.side)
        if name == "select" and given[0] == 0:
            return _structure_item(run, tensor, given[1])
    raise NotServed("It reads the structure in a way that is not known.")


def _convert(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Copies and conversions: structure stays as it is."""
    tensor = args[0]
    if not isinstance(tensor, IndexTensor):
        if isinstance(tensor, StateTensor):
            state = whole(run, tensor)
            others = [v.value if isinstance(v, StateTensor) else v for v in args[1:]]
            return _wrapped(run, state.entries, func(state.value, *others, **kwargs))
        return func(
            tensor, *[v.value if isinstance(v, StateTensor) else v for v in args[1:]], **kwargs
        )
    if func.__name__ in ("float", "double", "half", "bfloat16", "bool", "type", "type_as"):
        raise NotServed("It computes with the numbers of nodes.")
    types = [value for value in (*args[1:], *kwargs.values()) if isinstance(value, torch.dtype)]
    if any(dtype is not torch.long for dtype in types):
        raise NotServed("It computes with the numbers of nodes.")
    return tensor


# Aggregation --------------------------------------------------------------------------------------

_REDUCE = {"sum": "sum", "add": "sum", "mean": "mean", "amax": "max", "max": "max", "amin": "min",
           "min": "min", "prod": "prod", "multiply": "prod"}  # fmt: skip


def _scatter(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`scatter_add`, `index_add`, `scatter_reduce` and `index_reduce`, in place or not."""
    name = func.__name__
    names = ("self", "dim", "index", "src", "reduce")
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    given["src"] = given.get("src", kwargs.get("source"))
    own, index, source = given["self"], given["index"], given["src"]
    if isinstance(index, StateTensor) and not isinstance(own, LiftedTensor):
        return own.copy_(_histogram(run, own, index, source))
    if not isinstance(index, IndexTensor) or not isinstance(source, StateTensor):
        raise NotServed("It scatters by something else than the structure of the graph.")
    if given["dim"] % own.dim() or kwargs.get("alpha", 1) != 1:
        raise NotServed("It scatters along features.")
    if index.dim() > 1 and tuple(index.shape[1:]) != tuple(source.shape[1:]):
        raise NotServed("It scatters some features only.")
    mode = "sum" if "add" in name else _REDUCE[given["reduce"]]
    include = "add" in name or kwargs.get("include_self", True)
    result = _scattered(run, own, index, source, mode, include)
    if not name.endswith("_"):
        return result
    return own.assign(result) if isinstance(own, StateTensor) else own.copy_(result)


def _histogram(run: Run, own: Tensor, index: StateTensor, source: Any) -> Tensor:
    """Return how many edges of all candidates have each type, by which PyG picks a kernel."""
    edges, ones = index.entries.space, isinstance(source, StateTensor) and source.entries.count == 1
    if not isinstance(edges, EdgeList) or not ones or own.is_floating_point() or own.dim() != 1:
        raise NotServed("It scatters by something else than the structure of the graph.")
    copies = run.context.copies(edges)
    rows = np.bincount(index.entries.inverse, copies, minlength=index.entries.count)
    counted = run.context.tensor(rows).to(own.dtype) * source.value
    return own.scatter_add(0, index.value, counted)


def _scattered(
    run: Run, own: Any, index: IndexTensor, source: StateTensor, mode: str, include: bool
) -> Any:
    if index.role == "batch":
        if isinstance(own, LiftedTensor) or own.size(0) != run.context.num_candidates:
            raise NotServed("It scatters by `batch` into something else than candidates.")
        found: Any = (
            pool_nodes(run.context, source.entries, whole(run, source).value, mode)
            if source.factor is None
            else _pool(run, source, mode)
        )
        zero = not bool(own.any())
    else:
        if not isinstance(own, StateTensor) or own.shape[0] != NUM_NODES:
            raise NotServed("It scatters messages into something else than nodes.")
        found = _aggregate(run, source, index, mode)
        zero = own.entries.count == 1 and not bool(own.value.any())
    if zero and (mode == "sum" or not include):
        return found
    if mode == "sum":
        return (
            own + found
            if not isinstance(found, LiftedTensor)
            else apply(run, Tensor.add, (own, found), {})
        )
    if mode == "prod" and include:
        return (
            own * found
            if not isinstance(found, LiftedTensor)
            else apply(run, Tensor.mul, (own, found), {})
        )
    raise NotServed("It scatters into a tensor that is not zero.")


def _pool(run: Run, source: StateTensor, mode: str) -> Tensor:
    state = whole(run, source)
    return pool_nodes(run.context, state.entries, state.value, mode)


def _aggregate(run: Run, source: StateTensor, index: IndexTensor, mode: str) -> StateTensor:
    """Return the sum, mean, … of the messages of each node."""
    if index.role != "end" or source.shape[0] != index.shape[0]:
        raise NotServed("It scatters by something else than the ends of edges.")
    if mode != "sum":
        source = whole(run, source)
    value, factor = source.value, source.factor
    layouts = (source.entries,) if factor is None else (source.entries, factor.entries)

    def reduce(bags: Bags) -> Tensor:
        member = bags.members[0]
        weight = (
            None if factor is None else factor.value.reshape(-1).index_select(0, bags.members[1])
        )
        return reduce_bags(value, member, bags.ptr, mode, weight)

    return run.pending(Pending(reduce, index.side, layouts, value.dtype), source.shape[1:])


# Making tensors -----------------------------------------------------------------------------------


def _make_filled(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`zeros`, `new_ones`, `full` and the like: one row stands for all nodes or edges."""
    name = func.__name__
    own = name.startswith("new_")
    sizes = args[1:] if own else args
    if "full" in name:
        sizes, fill = (sizes[0] if sizes else kwargs["size"],), sizes[1:]
        sizes = _sizes(sizes)
    else:
        sizes, fill = _sizes(sizes) or tuple(kwargs.get("size", ())), ()
    rest = {key: value for key, value in kwargs.items() if key != "size"}
    like = args[0].value if own and isinstance(args[0], StateTensor) else None
    if own and like is None:
        like = (
            torch.empty(0, dtype=args[0].dtype, device=args[0].device)
            if isinstance(args[0], IndexTensor)
            else args[0]
        )
    make = (
        getattr(like, name.replace("empty", "zeros"))
        if own
        else getattr(torch, name.replace("empty", "zeros"))
    )
    if sizes and run.stands_for(sizes[0]):
        if any(run.stands_for(size) for size in sizes[1:]) or _states(fill):
            raise NotServed("It makes a tensor of all nodes or edges in two dimensions.")
        return run.constant(make((1, *sizes[1:]), *fill, **rest), sizes[0])
    if any(run.stands_for(size) for size in sizes):
        raise NotServed("It makes a tensor of all nodes or edges in another dimension.")
    return make(sizes, *fill, **rest)


def _make_like(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`zeros_like` and the like."""
    tensor, name = args[0], func.__name__.removesuffix("_like")
    if tensor.dim() > 1 and isinstance(tensor, IndexTensor):
        raise NotServed("It makes a tensor like the structure.")
    if isinstance(tensor, StateTensor) and isinstance(tensor.entries.space, Pairs):
        raise NotServed("It makes a tensor of all pairs.")
    kwargs = {"dtype": tensor.dtype, "device": tensor.device, **kwargs}
    size = (1, *tensor.shape[1:])
    make = getattr(torch, name.replace("empty", "zeros"))
    return run.constant(make(size, *args[1:], **kwargs), tensor.shape[0])


def _make_range(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`arange` up to the number of nodes: their numbers."""
    given = (*args, *[kwargs[name] for name in ("start", "end", "step") if name in kwargs])
    if not any(run.stands_for(value) for value in given):
        return func(*args, **kwargs)
    bounds = given if len(given) > 1 else (0, *given)
    if bounds[0] != 0 or bounds[1] != NUM_NODES or bounds[2:] not in ((), (1,)):
        raise NotServed("It numbers edges.")
    return run.index("nodes")


def _make_expanded(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`expand` and `repeat` of a plain tensor to all nodes or edges."""
    tensor, sizes = args[0], _sizes(args[1:]) or tuple(kwargs.get("size", ()))
    if func.__name__ == "expand_as":
        sizes = tuple(args[1].shape)
    if not any(run.stands_for(size) for size in sizes):
        return func(*args, **kwargs)
    if not run.stands_for(sizes[0]) or (tensor.dim() == len(sizes) and tensor.size(0) != 1):
        raise NotServed("It makes a tensor of all nodes or edges in another dimension.")
    call = getattr(tensor, "repeat" if func.__name__ == "repeat" else "expand")
    return run.constant(call(1, *sizes[1:]), sizes[0])


def _make_random(run: Run, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if any(run.stands_for(value) for value in (*_sizes(args), *_sizes(args[1:]))):
        raise NotServed("It draws random numbers.")
    return func(*args, **kwargs)


_FILLED = ("zeros", "ones", "full", "empty")
MAKERS: dict[str, Function] = {
    **dict.fromkeys([*_FILLED, *(f"new_{name}" for name in _FILLED)], _make_filled),
    **dict.fromkeys(("expand", "repeat", "broadcast_to", "expand_as"), _make_expanded),
    **dict.fromkeys(("rand", "randn", "randint", "randperm", "eye", "linspace"), _make_random),
    "arange": _make_range,
}
_HANDLERS: dict[str, Function] = {
    **dict.fromkeys([f"new_{name}" for name in _FILLED], _make_filled),
    **dict.fromkeys([f"{name}_like" for name in _FILLED], _make_like),
    **dict.fromkeys(("view", "reshape"), _view),
    **dict.fromkeys(("expand", "expand_as", "broadcast_to", "repeat"), _expand),
    **dict.fromkeys(("unsqueeze", "squeeze", "flatten", "transpose", "permute"), _dimensions),
    **dict.fromkeys(("cat", "concat", "concatenate", "stack"), _joining),
    **dict.fromkeys(("linear", "group_norm"), _linear),
    **dict.fromkeys(("layer_norm", "rms_norm"), _layer_norm),
    **dict.fromkeys(("matmul", "__matmul__", "__rmatmul__", "mm", "bmm"), _matmul),
    **dict.fromkeys(("gru_cell", "lstm_cell", "rnn_tanh_cell", "rnn_relu_cell"), _cell),
    **dict.fromkeys(("dropout", "alpha_dropout", "feature_alpha_dropout"), _dropout),
    **dict.fromkeys(("eq", "ne", "__eq__", "__ne__"), _compare_ends),
    **dict.fromkeys(("max", "min"), _extreme),
    **dict.fromkeys(("unbind", "flip", "select", "__iter__"), _rows_of_structure),
    **dict.fromkeys(
        ("to", "type", "type_as", "float", "double", "half", "bfloat16", "long", "int", "bool",
         "clone", "contiguous", "detach", "cpu", "cuda"), _convert,
    ),
    **dict.fromkeys(
        ("scatter_add", "scatter_add_", "index_add", "index_add_", "scatter_reduce",
         "scatter_reduce_", "index_reduce", "index_reduce_"), _scatter,
    ),
    "addmm": _addmm,
    "batch_norm": _batch_norm,
    "is_floating_point": _is_floating_point,
    "einsum": _einsum,
    "embedding": _embedding,
    "one_hot": _one_hot,
    "__getitem__": _getitem,
    "__setitem__": _setitem,
    "index_select": _index_select,
}  # fmt: skip
