"""The instances of a data set: one per graph, or one per chosen node or link of a graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from itertools import zip_longest
from typing import Any

from torch_geometric.data import Data, HeteroData

from eigsearch.errors import InputError
from eigsearch.inputs.arguments import (
    Classes,
    Links,
    Nodes,
    parse_links,
    parse_nodes,
    parse_targets,
)
from eigsearch.inputs.instance import Instance

_MISSING: Any = object()


def dataset_instances(
    dataset: Iterable[Any] | Data | HeteroData,
    target: Classes | None,
    node: Nodes | None,
    link: Links | None = None,
) -> Iterator[Instance]:
    """Return an instance for each graph, or for each chosen node or link of the one graph.

    Raises:
        InputError: If nodes or links are chosen of several graphs, or targets do not fit the
            predictions.
    """
    targets = parse_targets(target)
    chosen = subjects_of(dataset, node, link)
    if chosen is None:
        return _with_targets(_graphs_of(dataset), targets)
    instances = _with_targets([dataset] * len(chosen), targets)
    return (i._replace(**subject) for i, subject in zip(instances, chosen, strict=True))


def _graphs_of(dataset: Any) -> Iterable[Any]:
    """Return the graphs of a data set; raise InputError for what has none, such as a model."""
    if is_graph(dataset):
        return [dataset]
    if not isinstance(dataset, Iterable) and not hasattr(dataset, "__getitem__"):
        raise InputError(
            f"Expected the data set to hold graphs (got {type(dataset).__name__}). Pass the model "
            "first, and then a list of torch_geometric.data.Data."
        )
    return dataset


def subjects_of(
    dataset: Any, node: Nodes | None, link: Links | None
) -> list[dict[str, Any]] | None:
    """Return what each prediction is about, as a field of `Instance`; None if about the graphs.

    Raises:
        InputError: If both nodes and links are chosen, or there is not one graph to choose from.
    """
    if node is None and link is None:
        return None
    if node is not None and link is not None:
        raise InputError("Expected `node` or `link` (got both). Explain them in two calls.")
    if not is_graph(dataset):
        raise InputError(
            f"Expected one graph together with `{'link' if node is None else 'node'}` (got "
            f"{type(dataset).__name__}). Call explain_dataset once for each graph."
        )
    if node is None:
        return [{"link": each} for each in parse_links(link)]
    return [{"node": each} for each in parse_nodes(node, dataset)]


def listed(chosen: Any) -> Any:
    """Return nodes or links as they are, and those of an iterator as a list.

    >>> listed(n for n in (3, 7))
    [3, 7]
    """
    return list(chosen) if isinstance(chosen, Iterator) else chosen


def is_graph(value: Any) -> bool:
    """Return whether a value is one graph, typed or not."""
    return isinstance(value, Data | HeteroData)


def count_instances(dataset: Any, node: Nodes | None, link: Links | None = None) -> int | None:
    """Return the number of predictions where it is known."""
    if is_graph(dataset):
        chosen = subjects_of(dataset, node, link)
        return 1 if chosen is None else len(chosen)
    return len(dataset) if isinstance(dataset, Sized) else None


def _with_targets(
    graphs: Iterable[Any], target: int | list[int | None] | None
) -> Iterator[Instance]:
    """Return an instance of each graph, with the one target or with its own."""
    if not isinstance(target, list):
        return (Instance(graph, target) for graph in graphs)
    if isinstance(graphs, Sized) and len(graphs) != len(target):
        raise _length_error(len(graphs), len(target))
    return _paired(graphs, target)


def _paired(graphs: Iterable[Any], targets: Iterable[int | None]) -> Iterator[Instance]:
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
        f"{targets}). Pass one, or as many as predictions."
    )
