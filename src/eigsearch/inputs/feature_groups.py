"""Feature groups: which features are replaced together, and by what.

A feature group is a unit beside the groups of edges: a column of `x`, the features of one node, a
column of `edge_attr`, or what a user's partition joins. Removing it replaces it by a baseline.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.errors import InputError
from eigsearch.inputs.edge_groups import Groups

if TYPE_CHECKING:
    from eigsearch.inputs.instance import PreparedInstance

FeatureSpec = str | Sequence[str] | Tensor
BaselineSpec = str | Tensor

ATTRIBUTES = {"columns": "x", "nodes": "x", "entries": "x", "edge_columns": "edge_attr"}
BASELINES = ("zero", "mean")
_UNIT = {"x": "node", "edge_attr": "edge"}


@dataclass(frozen=True, eq=False)
class FeatureGroups:
    """Groups of the entries of one attribute, with one row for each node or edge.

    Attributes:
        attribute: `"x"` or `"edge_attr"`.
        index: Group of each entry; −1 marks one that is never replaced. `[1, F]` if the rows do not
            differ, `[n, 1]` if the columns do not, else `[n, F]`.
        baseline: What replaces each entry, `[1, F]` or `[n, F]`.
        places: The row of the user's graph that each row is; None where they are the same, and
            where a single row has groups of columns.
    """

    attribute: str
    index: Tensor
    baseline: Tensor
    places: Tensor | None = None

    @cached_property
    def count(self) -> int:
        """The number of groups."""
        return int(self.index[self.index >= 0].unique().numel())

    @property
    def by_row(self) -> bool:
        """Whether groups belong to single rows, so that a kept group keeps its node."""
        return self.index.size(0) > 1 or (self.places is not None and self.places.numel() == 1)

    def replaced(self, value: Tensor, keep: Tensor, owner: Tensor, taken: Tensor) -> Tensor:
        """Return rows of the attribute with what a candidate removes at the baseline.

        Args:
            value: The rows of all candidates.
            keep: The keep-rows of the candidates.
            owner: The candidate of each row.
            taken: The row of the graph that each row copies.
        """
        if not self.count:  # there are no groups, and keep-rows may have no columns
            return value
        group = self.index[taken] if self.by_row else self.index
        baseline = self.baseline[taken] if self.baseline.size(0) > 1 else self.baseline
        kept = keep[owner[:, None], group.clamp_min(0)] | (group < 0)
        flat = _as_matrix(value)
        return torch.where(kept, flat, baseline.to(flat.dtype)).reshape(value.shape)


def with_features(
    instance: PreparedInstance, spec: FeatureSpec, baseline: BaselineSpec
) -> PreparedInstance:
    """Return an instance whose groups of edges are followed by groups of features.

    A feature group weighs as much as a group of edges does on average, 1 where there are none, so
    that one ranking compares the drop of a whole feature group with that of a whole edge.

    Raises:
        InputError: If the graph lacks the features, or a partition or baseline does not fit them.
    """
    parts: list[FeatureGroups] = []
    count = edges = instance.groups.count
    for one in [spec] if isinstance(spec, str | Tensor) else spec:
        part = _numbered_from(count, _make(one, baseline, instance))
        parts.append(part)
        count += part.count
    weight = instance.groups.weight
    own = float(weight.mean()) if edges else 1.0
    weights = torch.cat([weight, weight.new_full((count - edges,), own)])
    groups = Groups(instance.groups.index, weights, instance.groups.note, tuple(parts))
    return replace(instance, groups=groups)


def check_some_features(spec: FeatureSpec | None, groups: object, baseline: BaselineSpec) -> None:
    """Raise InputError if there are no features where other options need some."""
    if spec is not None:
        return
    if isinstance(groups, str) and groups == "none":
        raise InputError(
            "Expected groups='none' to come with `features`, as it removes no edge (got no "
            "features). Pass features='columns', say, or leave `groups` out."
        )
    if isinstance(baseline, Tensor) or baseline != "zero":
        raise InputError(
            "Expected `baseline` to come with `features`, which it replaces (got no features). "
            "Pass features='columns', say."
        )


def check_features(spec: FeatureSpec | None, baseline: BaselineSpec) -> None:
    """Raise InputError if the names of features or of the baseline are unknown."""
    if not isinstance(baseline, Tensor) and baseline not in BASELINES:
        raise InputError(
            f"Expected `baseline` to be 'zero', 'mean' or a tensor (got {baseline!r}). "
            "Choose one of these."
        )
    if isinstance(spec, Tensor):
        _check_integers(spec)
    elif spec is not None:
        _check_names(list(spec) if isinstance(spec, list | tuple) else [spec], baseline)


def _check_names(names: Sequence[object], baseline: BaselineSpec) -> None:
    known = [name for name in names if isinstance(name, str) and name in ATTRIBUTES]
    if not names or len(known) < len(names):
        raise InputError(
            "Expected `features` to be 'columns', 'nodes', 'entries', 'edge_columns', or an "
            f"integer tensor (got {', '.join(map(repr, names)) or 'no name'}). "
            "Choose one of these."
        )
    if len({ATTRIBUTES[name] for name in known}) < len(names):
        raise InputError(
            f"Expected each feature to be in one group (got features={tuple(names)}, which puts "
            "some in two). Pass one way to group `x`, and 'edge_columns' beside it."
        )
    if len(names) > 1 and isinstance(baseline, Tensor):
        raise InputError(
            "Expected `baseline` to be 'zero' or 'mean' for features of nodes and of edges at "
            "once (got a tensor). Explain them in two calls."
        )


def _check_integers(spec: Tensor) -> None:
    if spec.is_floating_point() or spec.is_complex() or spec.dtype == torch.bool:
        raise InputError(
            f"Expected `features` to hold integers (got {spec.dtype}). Number the groups, with -1 "
            "for features that are never replaced."
        )
    if spec.numel() and int(spec.min()) < -1:
        raise InputError(
            f"Expected `features` to hold numbers from -1 upwards (got {int(spec.min())}). "
            "Use -1 for features that are never replaced."
        )


def _make(spec: str | Tensor, baseline: BaselineSpec, instance: PreparedInstance) -> FeatureGroups:
    """Return groups with the numbers that the name or the user gives them."""
    attribute = "x" if isinstance(spec, Tensor) else ATTRIBUTES[spec]
    whole = _matrix(attribute, instance.source)
    places = instance.nodes if attribute == "x" else instance.edges
    value = whole if places is None else whole[places]
    values = _baseline(baseline, attribute, whole, places)
    if isinstance(spec, Tensor):
        index = _partition(spec, whole.shape).to(whole.device)
        by_column = index.size(0) == 1
        index = index if places is None or by_column else index[places]
    else:
        by_column = spec in ("columns", "edge_columns")
        index = _named(spec, value, values)
    if by_column and len(value) == 1:
        places = None
    return FeatureGroups(attribute, index, values, places)


def _named(name: str, value: Tensor, baseline: Tensor) -> Tensor:
    rows, columns = value.shape
    if name == "nodes":
        return torch.arange(rows, device=value.device)[:, None]
    if name == "entries":  # replacing an entry that equals the baseline changes nothing
        number = torch.arange(rows * columns, device=value.device).reshape(rows, columns)
        return number.masked_fill(value == baseline.to(value.dtype), -1)
    return torch.arange(columns, device=value.device)[None]


def _matrix(attribute: str, data: Data) -> Tensor:
    """Return an attribute as a matrix with a row for each node or edge."""
    value, unit = data.get(attribute), _UNIT[attribute]
    rows = data.num_nodes if unit == "node" else data.num_edges
    if not isinstance(value, Tensor) or value.layout is not torch.strided:
        raise InputError(
            f"Expected the graph to have features of {unit}s in `{attribute}` (got "
            f"{'none' if value is None else 'no dense tensor'}). Set data.{attribute}."
        )
    if value.dim() not in (1, 2) or value.size(0) != rows:
        raise InputError(
            f"Expected `{attribute}` to have a row for each of {rows} {unit}s (got shape "
            f"{list(value.shape)}). Pass features as a matrix."
        )
    return _as_matrix(value)


def _as_matrix(value: Tensor) -> Tensor:
    """Return a vector as a matrix of one column."""
    return value[:, None] if value.dim() == 1 else value


def _baseline(spec: BaselineSpec, attribute: str, whole: Tensor, places: Tensor | None) -> Tensor:
    """Return what replaces each entry of the evaluated rows."""
    if isinstance(spec, Tensor):
        return _given_baseline(spec, attribute, whole, places)
    if spec == "zero":
        return whole.new_zeros(1, whole.size(1))
    if not whole.is_floating_point():
        raise InputError(
            f"Expected features to be floating-point for baseline='mean' (got {whole.dtype}). Pass "
            f"baseline='zero', or a tensor with the {whole.size(1)} values that replace a row."
        )
    return whole.double().mean(0, keepdim=True).to(whole.dtype)


def _given_baseline(spec: Tensor, attribute: str, whole: Tensor, places: Tensor | None) -> Tensor:
    rows, columns = whole.shape
    given = spec.detach().to(whole.device)
    given = given[None] if given.dim() == 1 else given
    if given.dim() != 2 or given.size(0) not in (1, rows) or given.size(1) != columns:
        raise InputError(
            f"Expected `baseline` to have the shape [{columns}] or [{rows}, {columns}], as "
            f"`{attribute}` (got {list(spec.shape)}). Pass a value for each column, or for each "
            "entry."
        )
    if not bool(torch.isfinite(given).all()):
        raise InputError(
            "Expected `baseline` to hold finite numbers (got NaN or infinite entries). Replace "
            "these."
        )
    if not whole.is_floating_point() and bool((given.to(whole.dtype) != given).any()):
        raise InputError(
            f"Expected `baseline` to hold values that fit the type of `{attribute}`, {whole.dtype} "
            f"(got values of {spec.dtype} that do not). Pass whole numbers, or make the features "
            "floating-point."
        )
    given = given.to(whole.dtype)
    return given if places is None or given.size(0) == 1 else given[places]


def _partition(spec: Tensor, shape: Sequence[int]) -> Tensor:
    """Return a user's partition as a matrix: of columns, of nodes, or of all entries."""
    rows, columns = shape
    if spec.dim() == 1 and rows == columns == spec.numel():
        raise InputError(
            f"Expected `features` to say whether it numbers columns or nodes (got {rows} entries "
            f"for {rows} nodes with {columns} columns). Pass the shape [1, F] or [N, 1]."
        )
    if spec.dim() == 1:
        spec = spec[None] if spec.numel() == columns else spec[:, None]
    if tuple(spec.shape) not in ((1, columns), (rows, 1), (rows, columns)):
        raise InputError(
            f"Expected `features` to have one number for each of {columns} columns, for each of "
            f"{rows} nodes, or for each entry (got shape {list(spec.shape)}). Pass the number of a "
            "group for each."
        )
    return spec.long()


def _numbered_from(start: int, part: FeatureGroups) -> FeatureGroups:
    """Return the groups numbered consecutively, in ascending order of their numbers."""
    grouped = part.index >= 0
    index = part.index.clone()
    index[grouped] = start + part.index[grouped].unique(return_inverse=True)[1]
    return replace(part, index=index)
