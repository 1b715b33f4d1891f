"""Prepared instances for tests that need no model."""

from __future__ import annotations

from typing import Any

from torch_geometric.data import Data

from eigsearch.inference.receptive_field import count_hops
from eigsearch.inputs.computation_graph import WHOLE_GRAPH, ReceptiveField
from eigsearch.inputs.edge_groups import GroupSpec
from eigsearch.inputs.instance import Instance, PreparedInstance
from eigsearch.tasks import GraphLevel, LinkLevel, NodeLevel


def prepare_graph(data: Data, groups: GroupSpec = "auto") -> PreparedInstance:
    return GraphLevel().prepare([Instance(data)], groups, WHOLE_GRAPH)[0]


def prepare_node(
    data: Data,
    node: int,
    field: ReceptiveField = WHOLE_GRAPH,
    groups: GroupSpec = "auto",
) -> PreparedInstance:
    return NodeLevel().prepare([Instance(data, node=node)], groups, field)[0]


def prepare_link(
    data: Any,
    link: Any,
    field: ReceptiveField = WHOLE_GRAPH,
    groups: GroupSpec = "auto",
    target_link: str = "keep",
) -> PreparedInstance:
    level = LinkLevel(target_link=target_link)
    return level.prepare([Instance(data, link=link)], groups, field)[0]


def field_of(model: Any) -> ReceptiveField:
    return ReceptiveField(count_hops(model))
