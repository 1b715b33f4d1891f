"""Convert explanations to plain Python values for JSON, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch_geometric.data import Data

from eigsearch.errors import InputError
from eigsearch.explanation.checks import check_fields, unreadable
from eigsearch.explanation.same_graph import check_same_graph
from eigsearch.inputs.feature_groups import FeatureGroups
from eigsearch.inputs.typed_graph import plain_name, plain_types, typed_view
from eigsearch.search import Curve, NearOptimal, Step

if TYPE_CHECKING:
    from eigsearch.explanation.explanation import SubgraphExplanation

_SCHEMA = 1
_AS_THEY_ARE = ("target", "prediction", "value", "engine", "config", "note")
_TENSORS = {
    "keep": torch.bool,
    "score": torch.float64,
    "order": torch.long,
    "group": torch.long,
}


def to_plain(explanation: SubgraphExplanation) -> dict[str, Any]:
    """Return everything about an explanation but the features of its graph."""
    edges = explanation.edges
    return {
        "schema": _SCHEMA,
        "num_nodes": int(explanation.data.num_nodes),
        "edge_index": explanation.flat.ends().tolist(),
        "types": plain_types(explanation.flat.schema),
        "node": explanation.node,
        "link": explanation.link,
        **{name: getattr(explanation, name) for name in _AS_THEY_ARE},
        **{name: getattr(explanation, name).tolist() for name in _TENSORS},
        "edges": None if edges is None else edges.tolist(),
        "curve": _curve_to_plain(explanation.curve),
        "found": _curve_to_plain(explanation.found),
        "path": [{**vars(step), "keep": step.keep.tolist()} for step in explanation.path],
        "agreement": agreement_to_plain(explanation.agreement),
        "features": [features_to_plain(part) for part in explanation.features],
    }


def read_json(path: Path) -> Any:
    """Return the content of a JSON file; raise InputError if it is not valid JSON."""
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise InputError(f"Expected {path} to exist (got no such file). Check it.") from error
    except (OSError, ValueError, RecursionError) as error:
        raise unreadable(f"{path.name}, which is no JSON") from error


def from_plain(values: dict[str, Any], data: Any = None) -> dict[str, Any]:
    """Return the fields of the explanation that `to_plain` described; `data` has the features.

    Raises:
        InputError: The values describe no explanation, or one of another graph than `data`.
    """
    if not isinstance(values, dict):
        raise unreadable(f"a {type(values).__name__}")
    if values.get("schema") != _SCHEMA:
        raise InputError(
            f"Expected an explanation of schema {_SCHEMA} (got {values.get('schema')!r}). "
            "Write it again with this version of eigsearch."
        )
    try:
        fields = _fields(values)
    except KeyError as error:
        raise unreadable(f"no {error}") from error
    except (TypeError, ValueError, RuntimeError, AttributeError, OverflowError) as error:
        raise unreadable("values of a wrong type") from error
    check_fields(fields)
    if data is not None:
        check_same_graph(data, fields["data"])
        fields["data"] = data
    return fields


def _fields(values: dict[str, Any]) -> dict[str, Any]:
    edges = values["edges"]
    return {
        "data": _graph(values),
        "node": plain_name(values["node"]),
        "link": plain_name(values.get("link")),
        **{name: values[name] for name in _AS_THEY_ARE},
        **{name: torch.tensor(values[name], dtype=kind) for name, kind in _TENSORS.items()},
        "edges": None if edges is None else torch.tensor(edges, dtype=torch.long),
        "curve": Curve.from_columns(values["curve"]),
        "found": Curve.from_columns(values["found"]),
        "path": path_from_plain(values["path"]),
        "agreement": agreement_from_plain(values.get("agreement")),
        "features": tuple(map(features_from_plain, values.get("features", ()))),
    }


def agreement_from_plain(agreement: dict[str, Any] | None) -> NearOptimal | None:
    """Return the near-optimal subgraphs of a search from their plain values."""
    if agreement is None:
        return None
    share = torch.tensor(agreement["share"], dtype=torch.float64)
    return NearOptimal(**{**agreement, "share": share})


def agreement_to_plain(agreement: NearOptimal | None) -> dict[str, Any] | None:
    """Return the near-optimal subgraphs of a search as plain values."""
    return None if agreement is None else {**vars(agreement), "share": agreement.share.tolist()}


def features_to_plain(part: FeatureGroups) -> dict[str, Any]:
    """Return groups of features as plain values."""
    return {
        "attribute": part.attribute,
        "index": part.index.tolist(),
        "baseline": part.baseline.tolist(),
        "places": None if part.places is None else part.places.tolist(),
    }


def features_from_plain(values: dict[str, Any]) -> FeatureGroups:
    """Return groups of features from their plain values."""
    places = values["places"]
    return FeatureGroups(
        values["attribute"],
        torch.tensor(values["index"], dtype=torch.long),
        torch.tensor(values["baseline"], dtype=torch.float64),
        None if places is None else torch.tensor(places, dtype=torch.long),
    )


def path_from_plain(path: Iterable[dict[str, Any]]) -> tuple[Step, ...]:
    """Return the steps of a search from their plain values."""
    return tuple(
        Step(**{**step, "keep": torch.tensor(step["keep"], dtype=torch.bool)}) for step in path
    )


def _graph(values: dict[str, Any]) -> Any:
    edge_index = torch.tensor(values["edge_index"], dtype=torch.long).reshape(2, -1)
    if values.get("types") is not None:
        return typed_view(values["types"], edge_index)
    return Data(edge_index=edge_index, num_nodes=values["num_nodes"])


def _curve_to_plain(curve: Curve) -> dict[str, list[float]]:
    return {name: column.tolist() for name, column in curve.columns().items()}
