"""Select the predictions that a command explains: graphs, nodes or links."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eigsearch.cli.number_ranges import parse_selection
from eigsearch.datasets import GraphDataset
from eigsearch.datasets.dataset import Task
from eigsearch.errors import InputError
from eigsearch.inputs.name_texts import LINK_FORMS, parse_end, parse_link_text
from eigsearch.inputs.typed_graph import LinkName, NodeName

_TYPED_NODE = re.compile(r"[^\s:,\d][^\s:,]*:\d+")


@dataclass(frozen=True)
class Selection:
    """The graphs to explain by number, or the nodes or links of the one graph.

    Attributes:
        index: The numbers of graphs.
        node: The nodes.
        link: The links, each by its two ends.
    """

    index: Sequence[int] | None = None
    node: Sequence[NodeName] | None = None
    link: Sequence[LinkName] | None = None

    def __len__(self) -> int:
        return len(self.index or self.node or self.link or ())

    @property
    def of_one_graph(self) -> bool:
        """Whether nodes or links of one graph are explained."""
        return self.index is None


@dataclass(frozen=True)
class Asked:
    """The flags that say what to explain, as a user wrote them."""

    index: str | None = None
    node: str | None = None
    link: str | None = None
    links: Path | None = None

    @property
    def task(self) -> Task | None:
        """The kind of prediction that the flags are about, None where they leave it open."""
        if self.link is not None or self.links is not None:
            return "link"
        return "node" if self.node is not None else None


def select(dataset: GraphDataset, asked: Asked, default: str = ":") -> Selection:
    """Return the predictions that the flags select; graphs and links `default` without a flag.

    Raises:
        InputError: If the flags do not fit the data set or one another.
    """
    _check_flags(dataset, asked)
    if dataset.task == "node":
        return Selection(node=_nodes(dataset, asked.node or ""))
    if dataset.task == "link":
        return Selection(link=_links(dataset, asked, default))
    text = default if asked.index is None else asked.index
    return Selection(index=parse_selection(text, range(len(dataset)), "--index"))


def _check_flags(dataset: GraphDataset, asked: Asked) -> None:
    given = {
        "--index": asked.index,
        "--node": asked.node,
        "--link": asked.link,
        "--links": asked.links,
    }
    used = [flag for flag, value in given.items() if value is not None]
    fitting = {
        "graph": ("--index",),
        "node": ("--node",),
        "link": ("--link", "--links", "--index"),
    }[dataset.task]
    advice = {
        "graph": "graphs such as 0:50",
        "node": "nodes such as 17, 300:400, or : for all",
        "link": f"a link such as {LINK_FORMS}",
    }[dataset.task]
    missing = dataset.task == "node" and not used
    if missing or len(used) > 1 or not set(used) <= set(fitting):
        raise InputError(
            f"Expected {fitting[0]} for {dataset.name}, whose {dataset.task}s are explained (got "
            f"{' and '.join(used) or 'none'}). Pass {advice}."
        )


def _nodes(dataset: GraphDataset, text: str) -> Sequence[NodeName]:
    """Return the nodes of a node set; those of a typed one with the type that is predicted."""
    graph, kind = dataset.graphs[0], dataset.target_type
    if all(map(_TYPED_NODE.fullmatch, text.replace(" ", "").split(","))):
        return [parse_end(part) for part in text.split(",")]
    if isinstance(kind, str):
        numbers = parse_selection(text, range(int(graph[kind].num_nodes)), "--node")
        return [(kind, number) for number in numbers]
    if dataset.is_typed:
        raise InputError(
            f"Expected --node to name the type of each node of {dataset.name} (got {text!r}). "
            f"Write {graph.node_types[0]}:0, say."
        )
    return parse_selection(text, range(int(graph.num_nodes)), "--node")


def asked_links(asked: Asked) -> list[LinkName] | None:
    """Return the links that the flags name, None where they name none."""
    if asked.link is not None:
        return [parse_link_text(asked.link)]
    return None if asked.links is None else read_links(asked.links)


def _links(dataset: GraphDataset, asked: Asked, default: str) -> Sequence[LinkName]:
    found = asked_links(asked)
    if found is None:
        return _listed_links(dataset, default if asked.index is None else asked.index)
    return [_with_types(dataset, link) for link in found]


def _listed_links(dataset: GraphDataset, index: str) -> Sequence[LinkName]:
    """Return links of the list that a link set has, by their number in it."""
    pairs = dataset.graphs[0].to_dict().get("edge_label_index")
    if pairs is None and dataset.is_typed:
        pairs = dataset.graphs[0]._global_store.get("edge_label_index")
    if pairs is None:
        raise InputError(
            f"Expected --link or --links for {dataset.name} (got neither, and its graph lists no "
            f"`edge_label_index`). Pass a link such as {LINK_FORMS}."
        )
    numbers = parse_selection(index, range(pairs.size(1)), "--index")
    chosen = [tuple(pairs[:, number].tolist()) for number in numbers]
    return [_with_types(dataset, (u, v)) for u, v in chosen]


def _with_types(dataset: GraphDataset, link: LinkName) -> LinkName:
    """Return a link with the types of its ends, where the data set says which links have."""
    types: Any = dataset.target_type
    if not isinstance(types, tuple) or not isinstance(link[0], int):
        return link
    return (types[0], link[0]), (types[1], int(str(link[1])))


def read_links(path: Path) -> list[LinkName]:
    """Return the links of a text file: one a line, its ends apart by a comma, tab or blank.

    Empty lines, and those that begin with `#`, are passed over.

    Raises:
        InputError: If the file has none, or a line is no link.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise InputError(
            f"Expected {path.name} to be a text file of links (got bytes that are no UTF-8). "
            f"Write one a line: {LINK_FORMS}."
        ) from error
    texts = [(n, line.strip()) for n, line in enumerate(lines, start=1)]
    kept = [(n, line) for n, line in texts if line and not line.startswith("#")]
    if not kept:
        raise InputError(
            f"Expected {path.name} to list links (got none). Write one a line: {LINK_FORMS}."
        )
    return [parse_link_text(line, f"line {n} of {path.name}") for n, line in kept]
