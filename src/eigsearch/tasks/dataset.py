"""The instances of a data set: one per graph, or one per chosen node of a graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from itertools import zip_longest
from typing import Any

from torch_geometric.data import Data

from eigsearch.errors import InputError
from eigsearch.inputs.arguments import Classes, Nodes, parse_nodes, parse_targets
from eigsearch.inputs.instance import Instance

_MISSING: Any = object()


def dataset_instances(
    dataset: Iterable[Data] | Data, target: Classes | None, node: Nodes | None
) -> Iterator[Instance]:
    """Return an instance for each graph, or for each chosen node of the one graph.

    Raises:
        InputError: If nodes are chosen of several graphs, or targets do not fit the predictions.
    """
    targets = parse_targets(target)
    if node is None:
        return _with_targets([dataset] if isinstance(dataset, Data) else dataset, targets)
    if not isinstance(dataset, Data):
        raise InputError(
            f"Expected one graph together with `node` (got {type(dataset).__name__}). "
            "Call explain_dataset once for each graph."
        )
    nodes = parse_nodes(node, dataset)
    instances = _with_targets([dataset] * len(nodes), targets)
    return (instance._replace(node=n) for instance, n in zip(instances, nodes, strict=True))


def count_instances(dataset: Iterable[Data] | Data, node: Nodes | None) -> int | None:
    """Return the number of predictions where it is known."""
    if isinstance(dataset, Data):
        return 1 if node is None else len(parse_nodes(node, dataset))
    return len(dataset) if isinstance(dataset, Sized) else None


def _with_targets(
    graphs: Iterable[Data], target: int | list[int | None] | None
) -> Iterator[Instance]:
    """Return an instance of each graph, with the one target or with its own."""
    if not isinstance(target, list):
        return (Instance(graph, target) for graph in graphs)
    if isinstance(graphs, Sized) and len(graphs) != len(target):
        raise _length_error(len(graphs), len(target))
    return _paired(graphs, target)


def _paired(graphs: Iterable[Data], targets: Iterable[int | None]) -> Iterator[Instance]:
    pairs = zip_longest(graphs, targets, fillvalue=_MISSING)
    for number, (graph, target) in enumerate(pairs):
        if graph is _MISSING:
            raise _length_error(number, f"more than {number}")
        if target is _MISSING:
            raise _length_error(f"more than {number}", number)
        yield Instance(graph, target)


def _length_error(graphs: int | str, targets: int | str) -> InputError:
    return InputError(
        f"Expected `target` to be one class for all or one for each of {graphs} predictions (got "
        f"{targets}). Pass equally many."
    )
