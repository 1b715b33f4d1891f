"""Construct the network that a name, the widths and the types of a data set describe."""

from collections.abc import Mapping
from typing import Any

from eigsearch.datasets import GraphDataset
from eigsearch.datasets.dataset import Task
from eigsearch.models.common_neighbours import CommonNeighbours
from eigsearch.models.gnn import CONVS, GNN
from eigsearch.models.hetero_gnn import HeteroGNN

TYPED = "hetero"
FORMULA = "common_neighbours"


def networks_for(dataset: GraphDataset) -> tuple[str, ...]:
    """Return the names of the networks that serve a data set."""
    if dataset.is_typed:
        return (TYPED,)
    return (FORMULA,) if dataset.task == "link" else tuple(CONVS)


def type_names(dataset: GraphDataset) -> tuple[list[str] | None, str | None]:
    """Return edge types and target type as a card writes them; None for an untyped data set."""
    if not dataset.is_typed:
        return None, None
    target = dataset.target_type
    edge_types = ["__".join(edge_type) for edge_type in dataset[0].edge_types]
    return edge_types, target if isinstance(target, str) else "__".join(target or ())


def build_network(
    conv: str,
    num_features: int | Mapping[str, int],
    num_classes: int,
    width: int,
    task: Task,
    edge_types: list[str] | None = None,
    target_type: str | None = None,
) -> Any:
    """Return an untrained network; types are written as in a card, `user__buys__item`."""
    if isinstance(num_features, Mapping):
        if edge_types is None or target_type is None:
            raise ValueError("a network with features by node type needs its edge types")
        types: Any = [tuple(name.split("__")) for name in edge_types]
        target: Any = tuple(target_type.split("__")) if task == "link" else target_type
        return HeteroGNN(num_features, types, num_classes, target, width)
    if conv == FORMULA:
        return CommonNeighbours(num_features)
    return GNN(conv, num_features, num_classes, width, task=task)
