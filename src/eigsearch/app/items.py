"""The predictions of a data set: graphs, nodes or links, by row or by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from torch import Tensor
from torch_geometric.data import Data, HeteroData

from eigsearch.datasets import GraphDataset
from eigsearch.errors import InputError
from eigsearch.inference.link_input import LINK
from eigsearch.inputs.arguments import Links, parse_links
from eigsearch.inputs.name_texts import parse_end, parse_link_text
from eigsearch.inputs.typed_graph import LinkName, NodeName
from eigsearch.parallel.sources import Source
from eigsearch.parallel.sources.files import FilesSource
from eigsearch.tasks import anchors_of, level_of

# A row of the table, or a node of a typed graph or a link by name, which need not be a row.
Item: TypeAlias = int | tuple[str, int] | LinkName


@dataclass(frozen=True, eq=False)
class Items:
    """The predictions that are rows of a table.

    Attributes:
        level: `"graph"`, `"node"` or `"link"`.
        names: The number of each graph, or the name of each node or link.
        labels: The label of each node or link; None where they have none.
        is_typed: Whether the graphs have types.
    """

    level: str
    names: Sequence[Any]
    labels: Tensor | None = None
    is_typed: bool = False

    def __len__(self) -> int:
        return len(self.names)

    def row(self, item: Item) -> int | None:
        """Return the row of an item; None for a node or link that is no row.

        Raises:
            InputError: If there is no row of a number.
        """
        if not isinstance(item, int):
            return self._rows.get(item)
        if not 0 <= item < len(self):
            raise InputError(
                f"Expected a {self.level} from 0 to {len(self) - 1} (got {item}). "
                "Choose one that the data set has."
            )
        return item

    def subject(self, item: Item) -> dict[str, Any]:
        """Return the node or link of an item as a keyword of `explain`; none for a graph."""
        if self.level == "graph":
            return {}
        row = self.row(item)
        return {self.level: item if row is None else self.names[row]}

    def anchors(self, item: Item) -> tuple[NodeName, ...]:
        """Return the nodes that the prediction of an item is about."""
        return anchors_of(**{"node": None, **self.subject(item)})

    def title(self, item: Item) -> str:
        """Return what a node or link is called, such as "Link 3–7"; "" for a graph."""
        anchors = self.anchors(item)
        text = level_of(anchors).label(anchors)
        return text[:1].upper() + text[1:]

    def address(self, item: Item) -> dict[str, Any]:
        """Return an item as the page names it: a node of a typed graph and a link by name."""
        if self.level == "link" or (self.level == "node" and self.is_typed):
            return self.subject(item)
        return {"item": item}

    def find(self, text: str) -> Item:
        """Return the item that a user wrote: a number, a typed node, or the two ends of a link.

        Raises:
            InputError: If the text is no item of this data set.
        """
        if self.level == "link":
            return self._link(text)
        if self.level == "node" and self.is_typed:
            name = parse_end(text, "the node")
            return name if not isinstance(name, int) else (self.names[0][0], name)
        if not text.strip().isdecimal():
            last = len(self) - 1
            raise InputError(f"Expected a number from 0 to {last} (got {text!r}). Type another.")
        return self._number(text)

    def _number(self, text: str) -> int:
        number = int(text)
        self.row(number)  # raises for a number too large
        return number

    def _link(self, text: str) -> Item:
        """Return the link of a text: a row, or its ends, of the types that listed links have."""
        if text.strip().isdecimal():
            return self._number(text)
        one, other = parse_link_text(text, "the link")
        if self.is_typed and isinstance(one, int):
            (first, _), (second, _) = self.names[0]
            return (first, one), (second, int(str(other)))
        return one, other

    @cached_property
    def _rows(self) -> dict[Any, int]:
        return {name: row for row, name in reversed(list(enumerate(self.names)))}


def items_of(
    dataset: Any, source: Source, links: Links | None = None, node_type: str | None = None
) -> Items:
    """Return the predictions of a data set: its graphs, or the nodes or links of its one graph.

    Args:
        dataset: What a user opened.
        source: Its graphs.
        links: The links to list; by default those that the graph lists.
        node_type: The type of the nodes, in a typed graph; by default the one that has labels.

    Raises:
        InputError: If there are none, or it is not clear which.
    """
    level, types = _level(dataset, source, links), getattr(dataset, "target_type", None)
    if level == "graph" or not len(source):
        return Items("graph", range(len(source)), is_typed=_is_typed(source))
    graph = source[0]
    typed = isinstance(graph, HeteroData)
    if level == "node":
        return _typed_nodes(graph, node_type or types) if typed else _nodes(graph)
    listed, labels = _listed_links(graph, types)
    if links is None:
        return Items("link", listed, labels, typed)
    chosen = parse_links(links)
    if typed and isinstance(types, tuple):
        chosen = [_with_types(link, types) for link in chosen]
    return Items("link", chosen, _labels_of(chosen, listed, labels), typed)


def _level(dataset: Any, source: Source, links: Links | None) -> str:
    if links is not None:
        return "link"
    one_graph = isinstance(dataset, Data | HeteroData)
    level = dataset.task if isinstance(dataset, GraphDataset) else "node" if one_graph else "graph"
    alone = one_graph or (level == "graph" and len(source) == 1)
    return "link" if level == "link" or (alone and _lists_links(source[0])) else level


def _is_typed(source: Source) -> bool:
    """Return whether graphs have types; those of files have none, and none is read to see it."""
    plain = isinstance(source, FilesSource) or not len(source)
    return not plain and isinstance(source[0], HeteroData)


def _lists_links(graph: Any) -> bool:
    return any(LINK in store for store in graph.stores)


def _nodes(graph: Data) -> Items:
    count, y = int(graph.num_nodes), graph.get("y")
    fits = isinstance(y, Tensor) and y.dim() > 0 and len(y) == count
    return Items("node", range(count), y if fits else None)


def _typed_nodes(graph: HeteroData, node_type: Any) -> Items:
    labelled = [kind for kind in graph.node_types if "y" in graph[kind]]
    if node_type is None and len(labelled) == 1:
        node_type = labelled[0]
    if node_type not in graph.node_types:
        got = f"{node_type!r}" if node_type else f"{len(labelled)} types with labels `y`"
        raise InputError(
            f"Expected the type of the nodes to explain (got {got}). Pass it as `node_type`, with "
            f"--node-type on the command line: one of {', '.join(graph.node_types)}."
        )
    names = [(str(node_type), number) for number in range(int(graph[node_type].num_nodes))]
    return Items("node", names, graph[node_type].get("y"), is_typed=True)


def _listed_links(graph: Any, types: Any) -> tuple[list[LinkName], Tensor | None]:
    """Return the links that a graph lists, with their labels."""
    for store in graph.stores:
        if LINK not in store:
            continue
        key = store._key if isinstance(store._key, tuple) else types
        if isinstance(graph, HeteroData) and key is None:
            continue
        pairs = store[LINK] if key is None else ((key[0], key[-1]), store[LINK])
        labels = store.get("edge_label", store.get("y"))
        found = parse_links(pairs)
        fits = isinstance(labels, Tensor) and labels.dim() > 0 and len(labels) == len(found)
        return found, labels if fits else None
    return [], None


def _labels_of(
    chosen: Sequence[LinkName], listed: Sequence[LinkName], labels: Tensor | None
) -> Tensor | None:
    """Return the labels of chosen links among listed ones, NaN for any others."""
    if labels is None:
        return None
    known = dict(zip(listed, labels.tolist(), strict=True))
    return Tensor([known.get(link, float("nan")) for link in chosen])


def _with_types(link: LinkName, types: tuple[str, str]) -> LinkName:
    if not isinstance(link[0], int):
        return link
    return (types[0], link[0]), (types[1], int(str(link[1])))
