"""A query: one prediction of one graph, validated and cut to the edges that can matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.errors import InputError
from eigsearch.inference.target import Target
from eigsearch.inputs.attributes import CERTAIN, Level, attribute_level, common_level
from eigsearch.inputs.computation_graph import Neighbourhood
from eigsearch.inputs.edge_groups import Groups, GroupSpec, make_groups_of_each
from eigsearch.inputs.validation import validate_graphs, with_tensor_edge_index


@dataclass(frozen=True, eq=False)
class PreparedInstance:
    """One question to a model: why this output for this graph (or this node of it)?

    Attributes:
        source: The graph as the user gave it.
        data: The graph that is evaluated: `source`, or the computation graph of `node`.
        groups: What is removed together in `data`.
        node: The explained node in `data`, or None for a graph-level prediction.
        source_node: The explained node in `source`.
        edges: Where the edges of `data` stand in `source`; None where they are all of them.
        nodes: Where the nodes of `data` stand in `source`; None where they are all of them.
        target: The explained class; known once the model has been asked.
        prediction: What the model predicts.
        without: φ without each group, where it was asked along with the whole graph.
        levels: What is known of the levels of attributes; queries about one graph share it.
    """

    source: Data
    data: Data
    groups: Groups
    node: int | None = None
    source_node: int | None = None
    edges: Tensor | None = None
    nodes: Tensor | None = None
    target: Target | None = None
    prediction: int | float | None = None
    without: Tensor | None = None
    levels: dict[str, tuple[Level, int]] = field(default_factory=dict)

    def with_target(self, target: Target, prediction: int | float) -> PreparedInstance:
        """Return the same query with its target known."""
        return self._with(target=target, prediction=prediction)

    def with_removal_scores(self, without: Tensor) -> PreparedInstance:
        """Return the same query with φ without each group known."""
        return self._with(without=without)

    def _with(self, **fields: Any) -> PreparedInstance:
        instance = object.__new__(
            PreparedInstance
        )  # with all that was worked out, which `replace` would drop
        vars(instance).update(vars(self), **fields)
        return instance

    @cached_property
    def attributes(self) -> tuple[str, ...]:
        """The names of the attributes that a model may read, besides the edges."""
        kept = (Tensor, bool, int, float)
        return tuple(
            key
            for key, value in self.data.items()
            if key not in ("edge_index", "num_nodes", "batch", "ptr") and isinstance(value, kept)
        )

    @cached_property
    def signature(self) -> tuple[str, ...]:
        """What graphs have to share for a trace of the model to fit them all."""
        return tuple(sorted(self.data.keys()))

    def level(self, name: str) -> tuple[Level, int]:
        """Return the level of an attribute, and the dimension to cut along.

        The graph that the user gave tells; lengths in a part of it may agree by chance.
        """
        if name not in self.levels:
            self.levels[name] = attribute_level(self.source, name)
        return self.levels[name]

    @cached_property
    def num_nodes(self) -> int:
        """The number of nodes of the evaluated graph, which PyG works out anew at each call."""
        return int(self.data.num_nodes)

    @cached_property
    def edge_arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Source, target and group of each edge, for index arithmetic off the device."""
        source, target = self.data.edge_index.cpu().long().numpy()
        return source, target, self.groups.index.cpu().numpy()

    @property
    def known_target(self) -> Target:
        """The target; asking before the model has been called is a mistake of the caller."""
        assert self.target is not None
        return self.target


def prepare_graph(data: Data, groups: GroupSpec) -> PreparedInstance:
    """Return the query about a graph-level prediction."""
    return prepare_graphs([data], groups)[0]


def prepare_graphs(graphs: Sequence[Data], groups: GroupSpec) -> list[PreparedInstance]:
    """Return the queries about the predictions of whole graphs."""
    validate_graphs(graphs)
    return [
        PreparedInstance(data, with_tensor_edge_index(data), made)
        for data, made in zip(graphs, make_groups_of_each(groups, graphs), strict=True)
    ]


def prepare_node(data: Data, node: int, neighbourhood: Neighbourhood) -> PreparedInstance:
    """Return the query about the prediction of one node, on its computation graph."""
    num_nodes = int(data.num_nodes)
    if not 0 <= node < num_nodes:
        raise InputError(
            f"Expected `node` to be a node from 0 to {num_nodes - 1} (got {node}). "
            "Pass a node that the graph has."
        )
    local, groups, nodes, edges = neighbourhood.around(node)
    position = int((nodes == node).nonzero())
    known = neighbourhood.levels
    return PreparedInstance(data, local, groups, position, node, edges, nodes, levels=known)


def level_in(instances: Sequence[PreparedInstance], name: str) -> tuple[Level, int]:
    """Return the level of an attribute in several graphs, and the dimension to cut along."""
    level, dim = instances[0].level(name)
    if name in CERTAIN:
        return level, dim
    return common_level(instance.level(name)[0] for instance in instances), dim
