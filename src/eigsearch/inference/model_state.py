"""Undo what calls of a model write to it, one thread at a time."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from operator import is_
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch.nn.modules.lazy import LazyModuleMixin

from eigsearch.inference.model_caches import Cache, items_of, restore_items

_MISSING: Any = object()
_LOCKS: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
_LOCKS_GUARD, _COMMON_LOCK = threading.Lock(), threading.RLock()


@contextmanager
def attributes_restored(
    modules: Sequence[torch.nn.Module], caches: Sequence[Cache] = ()
) -> Iterator[None]:
    """Restore attributes and buffers of modules, and items of caches, after the block."""
    states = [(module, vars(module).copy()) for module in modules]
    buffers = [(own, own.copy()) for _, state in states if (own := state["_buffers"])]
    items = [(cache, items_of(cache)) for cache in caches]
    try:
        yield
    finally:
        for cache, kept in items:
            restore_items(cache, kept)
        restore_attributes(states)
        for own, kept in buffers:
            own.update(kept)


def restore_attributes(states: Sequence[tuple[torch.nn.Module, dict[str, Any]]]) -> None:
    """Restore the attributes of modules, and delete new ones.

    A lazy module is left alone: its first call makes what has to stay.
    """
    for module, before in states:
        now = vars(module)
        if all(map(is_, now.values(), before.values())) and now.keys() == before.keys():
            continue
        if isinstance(module, LazyModuleMixin) or "_initialize_hook" in before:
            continue
        for name in now.keys() - before.keys():
            del now[name]
        for name, value in before.items():
            if now.get(name, _MISSING) is not value:
                now[name] = value


def lock_of(model: Any) -> Any:
    """Return the lock of a model, the same for every pipeline that calls it."""
    try:
        with _LOCKS_GUARD:
            return _LOCKS.setdefault(model, threading.RLock())
    except TypeError:  # a callable that no weak reference can point to
        return _COMMON_LOCK
