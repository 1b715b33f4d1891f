"""Masks, scores and names of the features in an explanation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.errors import InputError
from eigsearch.inputs.feature_groups import FeatureGroups

if TYPE_CHECKING:
    from eigsearch.explanation.fields import ExplanationFields

_MOST_NAMED = 8  # the most features that a sentence lists
_SET_TO = {"zero": "zero", "mean": "their mean in the graph"}


def features_of(explanation: ExplanationFields, attribute: str) -> FeatureGroups:
    """Return the groups of one attribute; raise InputError if they were not asked for."""
    for part in explanation.features:
        if part.attribute == attribute:
            return part
    wanted = "columns" if attribute == "x" else "edge_columns"
    raise InputError(
        f"Expected an explanation with groups of `{attribute}` (got none). "
        f"Explain again with features='{wanted}', say."
    )


def per_entry(explanation: ExplanationFields, part: FeatureGroups, per_group: Tensor) -> Tensor:
    """Return a value per group for the entries of the user's graph: `[1, F]`, `[N, 1]`, `[N, F]`.

    It is zero where no group is.
    """
    per_group = torch.cat([per_group.to(part.index.device), per_group.new_zeros(1)])
    local = per_group[part.index]  # −1 takes the zero at the end
    if part.places is None or not part.by_row:
        return local
    data = explanation.data
    rows = int(data.num_nodes) if part.attribute == "x" else int(data.num_edges)
    spread = local.new_zeros(rows, local.size(1))
    spread[part.places] = local
    return spread


def squeezed(explanation: ExplanationFields, attribute: str, per_group: Tensor) -> Tensor:
    """Return a value per group as `[F]` for columns, `[N]` for nodes, else `[N, F]`.

    Entries stay a matrix where there is one node or one column too.
    """
    values = per_entry(explanation, features_of(explanation, attribute), per_group)
    entries = attribute == "x" and "entries" in str(explanation.config.get("features"))
    return values if entries or 1 not in values.shape else values.flatten()


def removed_features(explanation: ExplanationFields, data: Data) -> Data:
    """Return a graph with the features that are not in the explanation at their baseline."""
    graph = data.clone()
    for part in explanation.features:
        value = graph.get(part.attribute)
        if value is None:  # an explanation that was read without the features of its graph
            continue
        rows = torch.arange(value.size(0)) if part.places is None else part.places.cpu()
        keep = explanation.keep.to(value.device)[None]
        owner = torch.zeros_like(rows).to(value.device)
        taken = torch.arange(rows.numel(), device=value.device)
        graph[part.attribute][rows] = part.replaced(value[rows], keep, owner, taken)
    return graph


def counted(edges: int, features: int, unit: str) -> str:
    """Return how many edges and features there are, in words.

    >>> counted(4, 1, "edge")
    '4 edges and 1 feature'
    """
    parts = [_plural(edges, unit)] if edges or not features else []
    return " and ".join(parts + ([_plural(features, "feature")] if features else []))


def features_sentence(explanation: ExplanationFields) -> str:
    """Return a sentence that lists the chosen features and names the baseline of the others."""
    if not explanation.features:
        return ""
    chosen = [_chosen(explanation, part) for part in explanation.features]
    named = " and ".join(filter(None, chosen)) or "none"
    baseline = str(explanation.config.get("baseline"))
    return f"Its features: {named}; features that are removed are set to {_set_to(baseline)}."


def group_names(part: FeatureGroups, wanted: Sequence[int]) -> dict[int, str]:
    """Return the names of the wanted feature groups, keyed by their number."""
    index = part.index.cpu()
    rows, columns = torch.isin(index, torch.tensor(wanted, dtype=torch.long)).nonzero(as_tuple=True)
    members: dict[int, list[tuple[int, int]]] = {}
    entries = zip(rows.tolist(), columns.tolist(), strict=True)
    for group, entry in zip(index[rows, columns].tolist(), entries, strict=True):
        members.setdefault(group, []).append(entry)
    return {group: _members_name(part, entries) for group, entries in members.items()}


def _members_name(part: FeatureGroups, entries: Sequence[tuple[int, int]]) -> str:
    rows = [_place(part, row) for row, _ in entries]
    return _name(part, rows, [column for _, column in entries])


def _chosen(explanation: ExplanationFields, part: FeatureGroups) -> str:
    mask = per_entry(explanation, part, explanation.keep)
    if not bool(mask.any()):
        return ""
    rows, columns = mask.nonzero(as_tuple=True)
    return _name(part, rows.tolist(), columns.tolist())


def _name(part: FeatureGroups, rows: Sequence[int], columns: Sequence[int]) -> str:
    if not part.by_row:
        return _listed("column" if part.attribute == "x" else "edge column", columns)
    if part.index.size(1) == 1:
        return _listed("node", rows)
    pairs = [f"{column} of node {row}" for row, column in zip(rows, columns, strict=True)]
    return _listed("column", pairs)


def _listed(unit: str, members: Sequence[int | str]) -> str:
    shown = [str(member) for member in members[:_MOST_NAMED]]
    if len(members) > _MOST_NAMED:
        shown.append(f"{len(members) - _MOST_NAMED} more")
    text = shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
    return f"{unit}{'' if len(members) == 1 else 's'} {text}"


def _place(part: FeatureGroups, row: int) -> int:
    return row if part.places is None else int(part.places[row])


def _set_to(baseline: str) -> str:
    return _SET_TO.get(baseline, "the given baseline")


def _plural(count: int, unit: str) -> str:
    return f"{count} {unit}" if count == 1 else f"{count} {unit}s"
