"""Convert explanations to rows and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import accumulate, pairwise
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.counterfactual.explanation import FlipExplanation
from eigsearch.explanation.checks import check_fields, unreadable
from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.explanation.features import group_names
from eigsearch.explanation.labels import is_class, true_label
from eigsearch.explanation.same_graph import check_same_graph
from eigsearch.explanation.serialization import (
    agreement_from_plain,
    agreement_to_plain,
    features_from_plain,
    features_to_plain,
    path_from_plain,
)
from eigsearch.inputs.feature_groups import FeatureGroups
from eigsearch.inputs.typed_graph import LinkName, NodeName, plain_types, typed_view
from eigsearch.search import Curve, NearOptimal, Step
from eigsearch.search.near_optimal import near_optimal_prefixes

Row = dict[str, Any]
# Errors raised for values of a wrong type or length.
_UNREADABLE = (
    *(KeyError, TypeError, ValueError, RuntimeError, AttributeError, OverflowError),
    RecursionError,
)


@dataclass(frozen=True)
class RowKey:
    """The graph that a row is about, by number, and the node or link that is explained."""

    index: int
    node: NodeName | None = None
    name: str | None = None
    link: LinkName | None = None


def failed_row(key: RowKey, reason: str) -> Row:
    """Return the row of a graph that could not be explained."""
    return {**_key_columns(key), "error": reason}


def to_row(key: RowKey, explanation: SubgraphExplanation) -> Row:
    """Return an explanation as one row, with tensors for lists; `explanation_of` inverts it."""
    return {
        **_key_columns(key),
        **_finding_columns(explanation),
        **_graph_columns(explanation),
        "group_keep": explanation.keep,
        "group_score": explanation.score,
        "group_order": explanation.order,
        "found": explanation.found.columns(),
        "curve": explanation.curve.columns(),
        "path": _path_columns(explanation.path),
        "agreement": agreement_to_plain(explanation.agreement),
        "features": _feature_columns(explanation.features),
        "flip": explanation.change() if isinstance(explanation, FlipExplanation) else None,
    }


def explanation_of(row: Row, config: dict[str, Any], data: Any = None) -> SubgraphExplanation:
    """Return the explanation that a row holds.

    Without `data` the graph has its edges and no features; for a node it then has only the edges
    of the computation graph.

    Raises:
        InputError: The values of the row do not fit together, or it is about another graph.
    """
    fields = _checked_fields(row, config)
    if data is not None:
        edges = None if row["edge_id"] is None else torch.tensor(row["edge_id"], dtype=torch.long)
        check_same_graph(data, fields["data"], edges)
        fields |= {"data": data, "edges": edges}
    change = row.get("flip")  # rows of earlier versions have no such column
    if change is not None:
        return FlipExplanation.from_change(fields, change)
    return SubgraphExplanation(**fields)


def _checked_fields(row: Row, config: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of an explanation; raise InputError where a value is of another one."""
    try:
        fields = _fields(row, config)
        places = row["edge_id"]  # of these edges in the whole graph
        num_edges = None if places is None else max(places, default=-1) + 1
    except _UNREADABLE as error:
        raise unreadable(f"a row of graph {row['index']} with values of a wrong type") from error
    check_fields(fields, num_edges)
    return fields


def _fields(row: Row, config: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that every explanation has."""
    prediction = row["prediction"]
    return {
        "data": _graph_of(row),
        "target": row["target"],
        "prediction": prediction if row["task"] == "regression" else int(prediction),
        "value": row["value"],
        "keep": torch.tensor(row["group_keep"], dtype=torch.bool),
        "score": torch.tensor(row["group_score"], dtype=torch.float64),
        "order": torch.tensor(row["group_order"], dtype=torch.long),
        "group": torch.tensor(row["edge_group"], dtype=torch.long),
        "curve": _curve(row["curve"]),
        "found": _curve(row["found"]),
        **named_columns(row),
        "edges": None,
        "engine": row["engine"],
        "config": {
            **config,
            "task": row["task"],
            "return_type": row["return_type"],
            "num_outputs": row.get("num_outputs") or 0,
        },
        "note": row["note"],
        "path": path_from_plain(row["path"]),
        "agreement": agreement_from_plain(row["agreement"]),
        "features": tuple(map(features_from_plain, row["features"])),
    }


def chosen_edges(rows: Sequence[Row]) -> list[list[list[int]]]:
    """Return, for each row, the edges of the chosen subgraph as pairs of nodes."""
    if not rows:
        return []
    names = ("edge_source", "edge_target", "edge_mask")
    source, target, mask = (torch.cat([row[name] for row in rows]) for name in names)
    pairs = torch.stack([source, target], dim=1)[mask].tolist()
    before = [0, *mask.cumsum(0).tolist()]  # how many are chosen before each edge
    ends = accumulate((len(row["edge_mask"]) for row in rows), initial=0)
    return [pairs[before[start] : before[stop]] for start, stop in pairwise(ends)]


def chosen_features(row: Row) -> list[str]:
    """Return the names of the chosen groups of features."""
    columns = row["features"]
    chosen = torch.as_tensor(row["group_keep"]).nonzero().flatten().tolist()
    names: dict[int, str] = {}
    for values in zip(*columns.values(), strict=True):
        part = features_from_plain(dict(zip(columns, values, strict=True)))
        names |= group_names(part, chosen)
    return [names[group] for group in sorted(names)]


def near_optimal_of(row: Row) -> NearOptimal | None:
    """Return the subgraphs that are as good as that of a row; None for a graph without edges."""
    if row["agreement"] is not None or not row["found"]:
        return agreement_from_plain(row["agreement"])
    order = torch.tensor(row["group_order"], dtype=torch.long)
    curve = _curve(row["curve"])
    return near_optimal_prefixes(row["task"], curve, order, row["size"], row["gain"])


def _key_columns(key: RowKey) -> Row:
    columns: Row = {"index": key.index, "node": key.node, "name": key.name, "link": key.link}
    if isinstance(key.node, tuple):
        columns |= {"node_type": key.node[0], "node": key.node[1]}
    if key.link is not None and not isinstance(key.link[0], int):
        types, numbers = zip(*key.link, strict=True)  # type: ignore[arg-type]
        columns |= {"link_types": list(types), "link": list(numbers)}
    return columns


def named_columns(row: Row) -> dict[str, Any]:
    """Return the node and the link that a row is about, as a user names them."""
    node, link = row["node"], row.get("link")  # rows of earlier versions have no links
    if row.get("node_type") is not None:
        node = (row["node_type"], node)
    if row.get("link_types") is not None:
        link = zip(row["link_types"], row["link"], strict=True)
    return {"node": node, "link": None if link is None else tuple(link)}


def _finding_columns(explanation: SubgraphExplanation) -> Row:
    empty = len(explanation.found) == 0  # a graph without edges has no fidelities
    return {
        "task": explanation.config["task"],
        "return_type": explanation.config["return_type"],
        "num_outputs": explanation.config.get("num_outputs"),
        "target": explanation.target,
        "prediction": float(explanation.prediction),
        "value": explanation.value,
        "num_groups": explanation.num_groups,
        "note": explanation.note,
        "engine": explanation.engine,
        **({"size": 0, "edge_size": 0, "sparsity": 0.0} if empty else _numbers(explanation)),
    }


def _numbers(explanation: SubgraphExplanation) -> Row:
    """Return the size and the fidelities of an explanation, each computed once."""
    size = explanation.size
    plus, minus = explanation.fidelity_plus, explanation.fidelity_minus
    return {
        "size": size,
        "edge_size": explanation.edge_size if explanation.features else size,
        "sparsity": 1 - size / explanation.num_groups if explanation.num_groups else 0.0,
        "fidelity_plus": plus,
        "fidelity_minus": minus,
        "gain": plus - minus,
    }


def _graph_columns(explanation: SubgraphExplanation) -> Row:
    view, edges, mask = explanation.flat, explanation.edges, explanation.flat_edge_mask
    ends, mask = view.ends(edges), mask if edges is None else mask[edges]
    data = Data() if view.schema is not None else explanation.data
    types = plain_types(view.schema, edges)
    return {
        "smiles": _text(data.get("smiles")),
        "label": true_label(explanation),
        "num_nodes": view.num_nodes,
        "types": None if types is None else json.dumps(types),
        "edge_source": ends[0],
        "edge_target": ends[1],
        "edge_mask": mask,
        "edge_group": explanation.group,
        "edge_id": edges,
        "node_label": _node_labels(data) if edges is None else None,  # not of a large graph
    }


def _text(value: Any) -> str | None:
    """Return a value if it is a text that can be encoded, else None."""
    try:
        return value if isinstance(value, str) and value.encode() else None
    except UnicodeEncodeError:  # half of a pair of surrogates
        return None


def _node_labels(data: Data) -> Tensor | None:
    """Return the label of each node as a number, or None if nodes have no such labels."""
    labels = data.get("node_label")
    if not isinstance(labels, Tensor) or labels.shape != (data.num_nodes,):
        return None
    return None if labels.is_floating_point() or labels.is_complex() else labels.long()


def _graph_of(row: Row) -> Any:
    edge_index = torch.tensor([row["edge_source"], row["edge_target"]], dtype=torch.long)
    if row.get("types") is not None:
        return typed_view(json.loads(row["types"]), edge_index.reshape(2, -1))
    data = Data(edge_index=edge_index.reshape(2, -1), num_nodes=row["num_nodes"])
    for name in ("smiles", "name"):
        if row[name] is not None:
            data[name] = row[name]
    if row["label"] is not None and row["node"] is None and row.get("link") is None:
        is_value = row["task"] == "regression" or not is_class(row["label"])
        data.y = torch.tensor([row["label"] if is_value else int(row["label"])])
    if row["node_label"] is not None:
        data.node_label = torch.tensor(row["node_label"], dtype=torch.long)
    return data


def _path_columns(path: Sequence[Step]) -> dict[str, list[Any]]:
    names = (field.name for field in fields(Step))
    return {name: [getattr(step, name) for step in path] for name in names}


def _feature_columns(features: Sequence[FeatureGroups]) -> dict[str, list[Any]]:
    parts = [features_to_plain(part) for part in features]
    names = (field.name for field in fields(FeatureGroups))
    return {name: [part[name] for part in parts] for name in names}


def _curve(points: list[dict[str, float]]) -> Curve:
    names = (field.name for field in fields(Curve))
    return Curve.from_columns({name: [point[name] for point in points] for name in names})
