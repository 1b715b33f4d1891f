"""Which predictions a user names: nodes by number or mask, classes one for all or for each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.errors import InputError

Nodes: TypeAlias = int | Iterable[int] | Tensor
Classes: TypeAlias = int | Iterable[int | None] | Tensor


def parse_node(node: Any) -> int | None:
    """Return the node that is named, as a whole number.

    >>> parse_node(np.int64(3))
    3
    """
    return None if node is None else _node(_plain(node), "Call explain_dataset for several.")


def parse_nodes(node: Any, data: Data) -> list[int]:
    """Return the nodes that are named one by one, or by a mask that is True where they are.

    >>> parse_nodes([False, True, True], Data(num_nodes=3))
    [1, 2]
    """
    nodes = _plain(node)
    listed = [_plain(each) for each in nodes] if isinstance(nodes, Iterable) else [nodes]
    if listed and all(isinstance(each, bool) for each in listed):
        _check_mask(len(listed), int(data.num_nodes))
        return [number for number, inside in enumerate(listed) if inside]
    return [_node(each, "Pass node numbers, or one bool for each node.") for each in listed]


def parse_target(target: Any) -> int | None:
    """Return the class that is named; labels may be whole numbers of any kind.

    >>> parse_target(np.array([1.0]))
    1
    """
    return _class(_plain(target), "Call explain_dataset for several.")


def parse_targets(target: Any) -> int | list[int | None] | None:
    """Return the one class for all predictions, or the list with one for each.

    >>> parse_targets(np.array([1, 0]))
    [1, 0]
    """
    classes, advice = _plain(target), "Pass one class for all, or one for each."
    if isinstance(classes, Iterable):
        return [_class(_plain(each), advice) for each in classes]
    return _class(classes, advice)


def _plain(value: Any) -> Any:
    """Return Python's numbers, alone or in lists, for those of torch and NumPy."""
    return value.tolist() if isinstance(value, Tensor | np.ndarray | np.generic) else value


def _only(value: Any) -> Any:
    """Return what a list of one holds, which PyG's labels often are."""
    return _only(value[0]) if isinstance(value, list) and len(value) == 1 else value


def _node(value: Any, advice: str) -> int:
    value = _only(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"Expected `node` to be a whole number (got {_short(value)}). {advice}")
    return value


def _class(value: Any, advice: str) -> int | None:
    value = _only(value)
    if value is None:
        return None
    if not isinstance(value, int | float) or value != value // 1:
        raise InputError(
            f"Expected `target` to be the number of a class (got {_short(value)}). {advice}"
        )
    return int(value)


def _short(value: Any) -> str:
    return f"{len(value)} values" if isinstance(value, list) else repr(value)


def _check_mask(length: int, num_nodes: int) -> None:
    if length != num_nodes:
        raise InputError(
            f"Expected a mask of nodes to have {num_nodes} entries, one for each (got {length}). "
            "Pass a mask of this graph, or node numbers."
        )
