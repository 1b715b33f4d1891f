"""Dicts into which a model writes what it computed: by the identity of a graph, say, or its shape.

Such a result belongs to another graph before long, so it is forgotten after each call. Lists are
logs as a rule, which users read afterwards; they are left alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import FunctionType
from typing import Any

import torch
from torch_geometric.nn import MessagePassing

from eigsearch._utils.code_digest import is_own
from eigsearch.inference.model_fingerprint import contents, names_in

_MOST = 4_096  # items of a dict up to which it may be a cache


class _Layer(MessagePassing):
    """A layer without parts of its own; PyG writes code into the class when it makes one."""


_KNOWN = frozenset({*vars(torch.nn.Module()), *vars(_Layer())})  # attributes of any layer


def caches_of(modules: Sequence[torch.nn.Module], called: Any) -> list[dict[Any, Any]]:
    """Return the dicts into which calls of a model may write.

    Those are attributes of its modules and of users' classes, and of what users' functions read
    from around them the dicts that hold nothing but tensors.

    Args:
        modules: The modules of the model.
        called: What is called, which may be a function.
    """
    classes = {base for module in modules for base in type(module).__mro__ if is_own(base)}
    found = [v for m in modules for name, v in vars(m).items() if name not in _KNOWN]
    found += [value for cls in classes for value in vars(cls).values()]
    found += filter(_is_tensor_dict, _read_by([called, *found]))
    dicts = {id(v): v for v in found if isinstance(v, dict) and len(v) <= _MOST}
    return list(dicts.values())


def _read_by(values: Sequence[Any]) -> Iterator[Any]:
    """Yield what users' functions, and those that they call, read from around them."""
    waiting, seen = list(values), set()
    while waiting:
        function = waiting.pop()
        if not isinstance(function, FunctionType) or id(function) in seen or not is_own(function):
            continue
        seen.add(id(function))
        around = function.__globals__
        read = [around[name] for name in names_in(function.__code__) if name in around]
        read += map(contents, function.__closure__ or ())
        waiting += read
        yield from read


def _is_tensor_dict(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(v, torch.Tensor) for v in value.values())
