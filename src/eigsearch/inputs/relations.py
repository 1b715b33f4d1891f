"""Relations of a typed graph: which edge types hold the reverses of which."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import chain
from typing import TypeAlias

import numpy as np
from torch_geometric.data import HeteroData

from eigsearch.errors import InputError

EdgeType: TypeAlias = tuple[str, str, str]
# By relation or edge type; None for one whose edges are removed without their reverses.
Reverse: TypeAlias = Mapping[str | EdgeType, str | EdgeType | None]

_PREFIX = "rev_"  # what PyG's ToUndirected puts before the name of a relation


def reverse_types(data: HeteroData, named: Reverse | None = None) -> tuple[int, ...]:
    """Return, for each edge type, the number of the type that holds its reverses; -1 for none.

    That is what the user names; else the type of the same name with `rev_` before it, the other
    way round; else a type with exactly swapped pairs; else, between nodes of one type, itself.

    Raises:
        InputError: If the user names a type that the graph does not have, or that does not lead
            back.
    """
    types = list(data.edge_types)
    found: dict[int, int] = {}
    for one, other in chain(
        _named(types, named or {}), _prefixed(types), _swapped(data, types, found)
    ):
        if one not in found and other not in found:
            found[one] = other
            if other >= 0:
                found[other] = one
    return tuple(
        found.get(number, number if source == target else -1)
        for number, (source, _, target) in enumerate(types)
    )


def _named(types: list[EdgeType], named: Reverse) -> Iterator[tuple[int, int]]:
    for name, back in named.items():
        numbers = [n for n, kind in enumerate(types) if name in (kind, kind[1])]
        if not numbers:
            raise InputError(
                f"Expected `reverse` to name relations of the graph (got {name!r}). Choose from "
                f"{', '.join(sorted({kind[1] for kind in types}))}."
            )
        for number in numbers:
            yield number, -1 if back is None else _leading_back(types, number, back)


def _leading_back(types: list[EdgeType], number: int, back: str | EdgeType) -> int:
    source, relation, target = types[number]
    wanted = (target, back, source) if isinstance(back, str) else back
    if wanted not in types or (wanted[0], wanted[2]) != (target, source):
        raise InputError(
            f"Expected the reverse of {relation!r} to lead from {target} to {source} (got {back!r},"
            " which the graph does not have there). Name a relation that does."
        )
    return types.index(wanted)


def _prefixed(types: list[EdgeType]) -> Iterator[tuple[int, int]]:
    for number, (source, relation, target) in enumerate(types):
        back = (target, _PREFIX + relation, source)
        if back in types:
            yield number, types.index(back)


def _swapped(
    data: HeteroData, types: list[EdgeType], found: Collection[int]
) -> Iterator[tuple[int, int]]:
    """Yield pairs of types with swapped ends and equal pairs; itself, if a type is symmetric."""
    for one, (source, _, target) in enumerate(types):
        pairs = data[types[one]].edge_index.cpu().long().numpy()
        for other in range(one, len(types)):
            leads_back = (types[other][0], types[other][2]) == (target, source)
            if not leads_back or not pairs.size or one in found or other in found:
                continue
            if _equal_pairs(pairs, data[types[other]].edge_index.cpu().long().numpy()[::-1]):
                yield one, other


def _equal_pairs(pairs: np.ndarray, others: np.ndarray) -> bool:
    if pairs.shape != others.shape:
        return False
    in_order = [each[:, np.lexsort(each)] for each in (pairs, others)]
    return bool((in_order[0] == in_order[1]).all())
