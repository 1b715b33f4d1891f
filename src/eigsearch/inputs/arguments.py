"""Parse the `node`, `link` and `target` that a user passes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import isfinite
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import HeteroData

from eigsearch.errors import InputError
from eigsearch.inputs.typed_graph import LinkName, NodeName

# Nodes of a typed graph are named with their type: ("paper", [3, 7]).
Nodes: TypeAlias = int | Iterable[NodeName] | Tensor | tuple[str, Any]
# `[2, L]` or a list of pairs; of a typed graph pairs of (type, number), or the two types (or an
# edge type) with `[2, L]`: (("user", "movie"), edge_label_index).
Links: TypeAlias = Tensor | np.ndarray | Iterable[LinkName] | tuple[tuple[str, ...], Any]
Classes: TypeAlias = int | Iterable[int | None] | Tensor


def parse_node(node: Any) -> NodeName | None:
    """Return a node as an integer; in a typed graph as (type, integer).

    >>> parse_node(np.int64(3)), parse_node(("paper", np.int64(3)))
    (3, ('paper', 3))
    """
    advice = "Call explain_dataset for several."
    if _is_typed(node):
        return str(node[0]), _node(_plain(node[1]), advice)
    number = _plain(node)
    return number if number is None else _node(number, advice)


def parse_nodes(node: Any, data: Any) -> list[Any]:
    """Return nodes given as a list of numbers or as a boolean mask.

    >>> from torch_geometric.data import Data
    >>> parse_nodes([False, True, True], Data(num_nodes=3))
    [1, 2]
    """
    if _is_typed(node):
        return [(str(node[0]), number) for number in _numbers(node[1], data, str(node[0]))]
    if isinstance(node, list | tuple) and node and all(map(_is_typed, node)):
        return [(str(each[0]), _node(_plain(each[1]), "Name one node each.")) for each in node]
    return list(_numbers(node, data, ""))


def _numbers(node: Any, data: Any, node_type: str) -> list[int]:
    """Return node numbers; in a typed graph all of one type."""
    nodes = _plain(node)
    listed = [_plain(each) for each in nodes] if isinstance(nodes, Iterable) else [nodes]
    if listed and all(isinstance(each, bool) for each in listed):
        typed = isinstance(data, HeteroData) and node_type in data.node_types
        if isinstance(data, HeteroData) and not node_type:
            raise InputError(
                "Expected a mask of nodes of a typed graph to come with their type (got the mask "
                f"alone). Pass (type, mask), with one of {', '.join(data.node_types)}."
            )
        _check_mask(len(listed), int(data[node_type].num_nodes if typed else data.num_nodes))
        return [number for number, inside in enumerate(listed) if inside]
    return [_node(each, "Pass node numbers, or one bool for each node.") for each in listed]


def parse_link(link: Any) -> LinkName | None:
    """Return a link as the pair of its two ends.

    >>> parse_link(torch.tensor([[3], [7]])), parse_link((("user", 3), ("movie", 7)))
    ((3, 7), (('user', 3), ('movie', 7)))
    """
    if link is None:
        return None
    found = parse_links(link if isinstance(link, Tensor | np.ndarray) else [link])
    if len(found) != 1:
        raise InputError(
            f"Expected `link` to be one pair of nodes (got {len(found)}). "
            "Call explain_dataset for several."
        )
    return found[0]


def parse_links(link: Any) -> list[LinkName]:
    """Return links given as pairs or as the columns of `[2, L]`, also a single one.

    >>> parse_links((3, 7))
    [(3, 7)]
    >>> parse_links(torch.tensor([[0, 1], [2, 3]]))
    [(0, 2), (1, 3)]
    >>> parse_links((("user", "movie"), torch.tensor([[0, 1], [2, 3]])))
    [(('user', 0), ('movie', 2)), (('user', 1), ('movie', 3))]
    """
    if isinstance(link, tuple) and len(link) == 2 and _are_types(link[0]):
        one, other = str(link[0][0]), str(link[0][-1])
        return [((one, u), (other, v)) for u, v in _columns(link[1])]
    if isinstance(link, Tensor | np.ndarray):
        return list(_columns(link))
    if not isinstance(link, Iterable):
        raise _no_link(link)
    named = list(link)
    if len(named) == 2 and all(isinstance(end, int) or _is_typed(end) for end in named):
        return [_pair(named)]
    return [_pair(each) for each in named]


def _columns(pairs: Any) -> Iterator[tuple[int, int]]:
    """Yield the columns of `[2, L]`, or the one pair of `[2]`."""
    pairs = torch.as_tensor(pairs)
    if pairs.is_floating_point() or pairs.dtype == torch.bool or pairs.dim() not in (1, 2):
        raise _no_link(f"{pairs.dtype} of shape {list(pairs.shape)}")
    if pairs.size(0) != 2:
        raise _no_link(f"shape {list(pairs.shape)}")
    yield from map(tuple, pairs.reshape(2, -1).t().tolist())


def _pair(link: Any) -> LinkName:
    ends = _plain(link)
    if not isinstance(ends, list | tuple) or len(ends) != 2:
        raise _no_link(ends)
    try:
        one, other = (parse_node(end) for end in ends)
    except InputError:
        raise _no_link(ends) from None
    if one is None or other is None or isinstance(one, int) != isinstance(other, int):
        raise _no_link(ends)
    return one, other


def _no_link(got: Any) -> InputError:
    return InputError(
        f"Expected `link` to be two nodes, or a tensor [2, L] for several links (got {got}). Pass "
        "(3, 7), or ((type, 3), (type, 7)) in a typed graph."
    )


def _is_typed(node: Any) -> bool:
    """Return whether a node is named with its type."""
    return isinstance(node, tuple | list) and len(node) == 2 and isinstance(node[0], str)


def _are_types(value: Any) -> bool:
    is_tuple = isinstance(value, tuple | list) and len(value) in (2, 3)
    return is_tuple and all(isinstance(each, str) for each in value)


def parse_target(target: Any) -> int | None:
    """Return a class as an integer; integers of torch and NumPy are accepted.

    >>> parse_target(np.array([1.0]))
    1
    """
    return _class(_plain(target), "Call explain_dataset for several.")


def parse_targets(target: Any) -> int | list[int | None] | None:
    """Return one class for all predictions, or a list with one class for each.

    >>> parse_targets(np.array([1, 0]))
    [1, 0]
    """
    classes, advice = _plain(target), "Pass one class for all, or one for each."
    if isinstance(classes, Iterable):
        return [_class(_plain(each), advice) for each in classes]
    return _class(classes, advice)


def parse_class(name: str, value: Any) -> int | None:
    """Return the class that an option holds, parsed as in `parse_target`."""
    return _class(_plain(value), "Pass one class.", name)


def parse_value(name: str, value: Any) -> int | float | None:
    """Return an option as a float.

    >>> parse_value("above", np.float64(5.5))
    5.5

    Raises:
        InputError: If it is not a finite number.
    """
    value = _only(_plain(value))
    if isinstance(value, bool):  # a label of two classes
        return int(value)
    if value is None or (isinstance(value, int | float) and isfinite(value)):
        return value
    raise InputError(f"Expected `{name}` to be a number (got {_short(value)}). Pass one.")


def _plain(value: Any) -> Any:
    """Convert numbers of torch and NumPy, also in lists, to Python numbers."""
    return value.tolist() if isinstance(value, Tensor | np.ndarray | np.generic) else value


def _only(value: Any) -> Any:
    """Return the only element of a list of length one, as PyG's labels often are."""
    return _only(value[0]) if isinstance(value, list) and len(value) == 1 else value


def _node(value: Any, advice: str) -> int:
    value = _only(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"Expected `node` to be a whole number (got {_short(value)}). {advice}")
    return value


def _class(value: Any, advice: str, name: str = "target") -> int | None:
    value = _only(value)
    if value is None:
        return None
    if not isinstance(value, int | float) or value != value // 1:
        raise InputError(
            f"Expected `{name}` to be the number of a class (got {_short(value)}). {advice}"
        )
    return int(value)


def _short(value: Any) -> str:
    return f"{len(value)} values" if isinstance(value, list) else repr(value)


def _check_mask(length: int, num_nodes: int) -> None:
    if length != num_nodes:
        raise InputError(
            f"Expected a mask of nodes to have {num_nodes} entries, one for each node (got "
            f"{length}). Pass a mask of this graph, or node numbers."
        )
