"""An explanation as plain Python values, for JSON, and its fields from such values again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch_geometric.data import Data

from eigsearch.belonging import check_belonging
from eigsearch.errors import InputError
from eigsearch.search import Curve, Step

if TYPE_CHECKING:
    from eigsearch.explanation import SubgraphExplanation

_SCHEMA = 1
_AS_THEY_ARE = ("node", "target", "prediction", "value", "engine", "config", "note")
_TENSORS = {
    "keep": torch.bool,
    "score": torch.float64,
    "order": torch.long,
    "group": torch.long,
}
_COLUMNS = ("size", "kept", "removed", "fidelity_plus", "fidelity_minus")


def to_plain(explanation: SubgraphExplanation) -> dict[str, Any]:
    """Return everything about an explanation but the features of its graph."""
    edges = explanation.edges
    return {
        "schema": _SCHEMA,
        "num_nodes": int(explanation.data.num_nodes),
        "edge_index": explanation.data.edge_index.tolist(),
        **{name: getattr(explanation, name) for name in _AS_THEY_ARE},
        **{name: getattr(explanation, name).tolist() for name in _TENSORS},
        "edges": None if edges is None else edges.tolist(),
        "curve": _curve_to_plain(explanation.curve),
        "found": _curve_to_plain(explanation.found),
        "path": [{**vars(step), "keep": step.keep.tolist()} for step in explanation.path],
    }


def from_plain(values: dict[str, Any], data: Data | None = None) -> dict[str, Any]:
    """Return the fields of the explanation that `to_plain` described; `data` has the features."""
    if values.get("schema") != _SCHEMA:
        raise InputError(
            f"Expected an explanation of schema {_SCHEMA} (got {values.get('schema')!r}). "
            "Write it again with this version of eigsearch."
        )
    saved, edges = _graph(values), values["edges"]
    if data is not None:
        check_belonging(data, saved.num_nodes, saved.edge_index)
    return {
        "data": saved if data is None else data,
        **{name: values[name] for name in _AS_THEY_ARE},
        **{name: torch.tensor(values[name], dtype=kind) for name, kind in _TENSORS.items()},
        "edges": None if edges is None else torch.tensor(edges, dtype=torch.long),
        "curve": _curve_from_plain(values["curve"]),
        "found": _curve_from_plain(values["found"]),
        "path": tuple(_step_from_plain(step) for step in values["path"]),
    }


def _graph(values: dict[str, Any]) -> Data:
    edge_index = torch.tensor(values["edge_index"], dtype=torch.long).reshape(2, -1)
    return Data(edge_index=edge_index, num_nodes=values["num_nodes"])


def _curve_to_plain(curve: Curve) -> dict[str, list[float]]:
    return {name: getattr(curve, name).tolist() for name in _COLUMNS}


def _curve_from_plain(values: dict[str, list[float]]) -> Curve:
    columns = {name: torch.tensor(values[name], dtype=torch.float64) for name in _COLUMNS}
    return Curve(**{**columns, "size": columns["size"].long()})


def _step_from_plain(values: dict[str, Any]) -> Step:
    return Step(**{**values, "keep": torch.tensor(values["keep"], dtype=torch.bool)})
