"""Instances: what a user asks about, and the same prepared for evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.inputs.attributes import KNOWN_LEVELS, Level, attribute_level, common_level
from eigsearch.inputs.edge_groups import Groups
from eigsearch.inputs.plain_values import NUMBERS, comparable, holds_rows
from eigsearch.inputs.typed_graph import NodeName, Schema


class Instance(NamedTuple):
    """One prediction to explain, as the user names it: a graph's, if it names no node and no link.

    Attributes:
        data: The graph.
        target: The class to explain; None for the predicted one.
        node: The node whose prediction is explained.
        link: The two ends of the link whose prediction is explained.
    """

    data: Any
    target: int | None = None
    node: Any = None  # a NodeName
    link: Any = None  # a LinkName


@dataclass(frozen=True, eq=False)
class PreparedInstance:
    """One prediction to explain: validated, grouped, cut to its computation graph.

    Attributes:
        source: The graph as the user gave it.
        data: The graph that is evaluated: `source`, or the computation graph of `anchors`.
        groups: What is removed together in `data`.
        anchors: The nodes of `data` that the prediction is about, which no candidate drops:
            none for a graph, one for a node, the two ends of a link.
        source_anchors: The same nodes in `source`.
        edges: The position in `source` of each edge of `data`; None where they are the same.
        nodes: The position in `source` of each node of `data`; None where they are the same.
        levels: Levels of attributes found so far; instances of one graph share it.
        schema: The types, where `source` is a typed graph, of which `data` then is a flat view;
            nodes and edges of `source` are numbered as in its flat view.
    """

    source: Any
    data: Data
    groups: Groups
    anchors: tuple[int, ...] = ()
    source_anchors: tuple[int, ...] = ()
    edges: Tensor | None = None
    nodes: Tensor | None = None
    levels: dict[str, tuple[Level, int]] = field(default_factory=dict)
    schema: Schema | None = None

    @property
    def node(self) -> int | None:
        """The explained node in `data`, or None where no single node is explained."""
        return self.anchors[0] if len(self.anchors) == 1 else None

    @property
    def source_node(self) -> int | None:
        """The explained node in `source`, or None where no single node is explained."""
        return self.source_anchors[0] if len(self.source_anchors) == 1 else None

    @cached_property
    def attributes(self) -> tuple[str, ...]:
        """The names of the attributes that a model may read, besides the edges.

        Those of a typed graph stay in its stores.
        """
        return tuple(
            key
            for key, value in self.data.items()
            if key not in ("edge_index", "num_nodes", "batch", "ptr")
            and (isinstance(value, Tensor) or not holds_rows(value, self.source))
        )

    @property
    def readable(self) -> Any:
        """The graph whose attributes a model is given: `data`, or the stores of a typed graph."""
        return self.data if self.schema is None else self.source

    @cached_property
    def types(self) -> tuple[Any, ...]:
        """The types of the graph and of its anchors, which candidates of one call share."""
        if self.schema is None:
            return ()
        anchors = (self.schema.node_name(anchor)[0] for anchor in self.source_anchors)
        return (*self.schema.node_types, *self.schema.edge_types, "of", *anchors)

    @property
    def shared_values(self) -> tuple[Any, ...]:
        """The values that reach the model as they are, which candidates of one call share."""
        if self.schema is not None:
            return self._typed_values
        of_call = [name for name, (level, _) in self.levels.items() if level == "call"]
        return tuple(comparable(self.data[name]) for name in of_call)

    @cached_property
    def _typed_values(self) -> tuple[Any, ...]:
        """The strings and numbers in the stores of a typed graph."""
        stores = (store.items() for store in self.source.stores)
        return tuple(v for items in stores for _, v in items if isinstance(v, (str, *NUMBERS)))

    @property
    def named_anchors(self) -> tuple[NodeName, ...]:
        """The nodes that the prediction is about, as a user names them."""
        if self.schema is None:
            return self.source_anchors
        return tuple(map(self.schema.node_name, self.source_anchors))

    @cached_property
    def signature(self) -> tuple[str, ...]:
        """The sorted attribute names, which graphs share if the model is called alike on them."""
        return (*sorted(self.data.keys()), *map(str, self.types))

    def level(self, name: str) -> tuple[Level, int]:
        """Return the level of an attribute and the dimension to slice along.

        Decided on `source`: lengths in a part of a graph may agree by coincidence.
        """
        if name not in self.levels:
            self.levels[name] = attribute_level(self.source, name)
        return self.levels[name]

    @cached_property
    def num_nodes(self) -> int:
        """The number of nodes of the evaluated graph, which PyG computes anew at each access."""
        return int(self.data.num_nodes)

    @cached_property
    def edge_arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Source, target and group of each edge as NumPy arrays."""
        source, target = self.data.edge_index.cpu().long().numpy()
        return source, target, self.groups.index.cpu().numpy()

    @cached_property
    def ends(self) -> np.ndarray:
        """Source and target of each edge as one NumPy array, `[2, E]`."""
        return self.data.edge_index.cpu().long().numpy()


def level_in(instances: Sequence[PreparedInstance], name: str) -> tuple[Level, int]:
    """Return the level of an attribute in several graphs and the dimension to slice along."""
    level, dim = instances[0].level(name)
    if name in KNOWN_LEVELS:
        return level, dim
    return common_level(instance.level(name)[0] for instance in instances), dim
