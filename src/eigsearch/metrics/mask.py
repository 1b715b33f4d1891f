"""Claim: subgraph masks, from any explainer, to be scored on one prediction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from eigsearch.errors import InputError, UnsupportedError
from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.inputs.instance import Instance
from eigsearch.inputs.typed_graph import FlatView, LinkName, NodeName, flat_view


@dataclass(frozen=True, eq=False)
class Claim:
    """One explanation to be scored, or several of the same prediction.

    With `edge_mask` the subgraph is edge-induced, with `node_mask` node-induced, with both
    node-and-edge-induced. A mask is one row, `[E]` or `[N]`, or a matrix with one row for each of
    several explanations. It holds bools or zeros and ones; any other numbers need a `threshold`,
    and an entry is kept where it lies above. What is removed together is kept together: a group is
    in the subgraph as soon as one of its edges is. Masks of a typed graph are dicts by type; types
    that they leave out have no entry in the subgraph.

    Attributes:
        data: The graph, a `Data` or a `HeteroData`.
        edge_mask: The edges of the subgraph, aligned with `data.edge_index`.
        node_mask: The nodes of the subgraph.
        target: The explained class (or output column); None for the predicted one.
        node: The explained node; None for a prediction about the graph or a link.
        threshold: Where to cut masks that are not bools.
        link: The explained link; None for a prediction about the graph or a node.
    """

    data: Any
    edge_mask: Any = None
    node_mask: Any = None
    target: int | None = None
    node: NodeName | None = None
    threshold: float | None = None
    link: LinkName | None = None

    def __post_init__(self) -> None:
        if self.edge_mask is None and self.node_mask is None:
            raise InputError(
                "Expected a claim to have an `edge_mask` or a `node_mask` (got neither). "
                "Pass the edges or the nodes of the explanation."
            )
        _check_length("edge_mask", self._flat_edges, self._num_edges)
        _check_length("node_mask", self._flat_nodes, self._num_nodes)
        if self._view.schema is not None and None not in (self.edge_mask, self.node_mask):
            raise UnsupportedError(
                "Expected one kind of mask for a typed graph (got `edge_mask` and `node_mask`). "
                "Leave one of them out."
            )
        if None not in (self.edge_mask, self.node_mask) and len(self.edges) != len(self.nodes):
            raise InputError(
                f"Expected both masks to hold as many explanations (got {len(self.edges)} rows of "
                f"edges and {len(self.nodes)} of nodes). Give each explanation a row in both."
            )

    @staticmethod
    def of(explanation: SubgraphExplanation) -> Claim:
        """Return what an explanation of eigsearch claims; refuse one that holds features.

        Raises:
            InputError: If features are part of the explanation, which masks of edges do not show.
        """
        if explanation.features:
            raise InputError(
                "Expected an explanation of edges alone (got one with groups of features). "
                "Read its own `fidelity_plus` and `fidelity_minus`, which count both."
            )
        return Claim(
            explanation.data,
            edge_mask=explanation.edge_mask,
            target=explanation.target,
            node=explanation.node,
            link=explanation.link,
        )

    @property
    def instance(self) -> Instance:
        """The prediction that the claim is about."""
        return Instance(self.data, self.target, self.node, self.link)

    @property
    def edges(self) -> Tensor:
        """The edge masks as bool rows; nothing is marked where only nodes are given."""
        return self._rows(self._flat_edges, self._num_edges)

    @property
    def nodes(self) -> Tensor:
        """The node masks as bool rows; nothing is marked where only edges are given."""
        return self._rows(self._flat_nodes, self._num_nodes)

    @property
    def shape(self) -> torch.Size:
        """The shape of the answer: `[]` for one explanation, `[M]` for M."""
        mask = self._flat_nodes if self.edge_mask is None else self._flat_edges
        assert mask is not None
        return mask.shape[:-1]

    @cached_property
    def _view(self) -> FlatView:
        return flat_view(self.data, paired=False)

    @property
    def edge_index(self) -> Tensor:
        """The edges of the graph; those of a typed one type after type, and its nodes likewise."""
        return self._view.ends().cpu()

    @property
    def _num_edges(self) -> int:
        return self._view.num_edges

    @property
    def _num_nodes(self) -> int:
        return self._view.num_nodes

    @cached_property
    def _flat_edges(self) -> Tensor | None:
        schema = self._view.schema
        if schema is None:
            return self.edge_mask
        return _joined("edge_mask", self.edge_mask, schema.edge_types, schema.edge_ptr)

    @cached_property
    def _flat_nodes(self) -> Tensor | None:
        schema = self._view.schema
        if schema is None:
            return self.node_mask
        return _joined("node_mask", self.node_mask, schema.node_types, schema.node_ptr)

    def _rows(self, mask: Tensor | None, width: int) -> Tensor:
        if mask is None:
            return torch.zeros(self.shape.numel(), width, dtype=torch.bool)
        return as_bool(mask, self.threshold).reshape(mask.shape[:-1].numel(), width).cpu()


def as_bool(mask: Tensor, threshold: float | None = None) -> Tensor:
    """Return a mask as bools: where it lies above the threshold, or where it is 1.

    >>> as_bool(torch.tensor([0.2, 0.7]), threshold=0.5).tolist()
    [False, True]
    """
    if mask.dtype == torch.bool:
        return mask
    if threshold is not None:
        return mask > threshold
    if not bool(((mask == 0) | (mask == 1)).all()):
        raise InputError(
            "Expected a mask of bools or of zeros and ones (got other numbers). "
            "Pass `threshold` to say above which value an entry is kept."
        )
    return mask == 1


def _joined(name: str, mask: Any, types: Sequence[Any], ptr: Sequence[int]) -> Tensor | None:
    """Return masks by type as one, type after type; those that are missing mark nothing."""
    if mask is None:
        return None
    unknown = set(mask) - set(types) if isinstance(mask, Mapping) else {"a tensor"}
    if unknown:
        raise InputError(
            f"Expected `{name}` of a typed graph to be a dict by type (got {unknown.pop()!r}). "
            f"Its types are {', '.join(map(str, types))}."
        )
    shape = next((each.shape[:-1] for each in mask.values()), torch.Size())
    sizes = [stop - start for start, stop in pairwise(ptr)]
    given = next((each for each in mask.values()), torch.zeros(0, dtype=torch.bool))
    parts = [
        mask.get(kind, given.new_zeros(*shape, size))
        for kind, size in zip(types, sizes, strict=True)
    ]
    for kind, part, size in zip(types, parts, sizes, strict=True):
        _check_length(f"{name}[{kind!r}]", part, size)
    return torch.cat(parts, dim=-1)


def _check_length(name: str, mask: Tensor | None, length: int) -> None:
    if mask is not None and not isinstance(mask, Tensor):
        raise InputError(
            f"Expected `{name}` to be a tensor (got {type(mask).__name__}). "
            "Convert it with torch.as_tensor."
        )
    if mask is not None and (mask.dim() not in (1, 2) or mask.size(-1) != length):
        raise InputError(
            f"Expected `{name}` to have {length} entries in each row (got shape "
            f"{list(mask.shape)}). Align it with the graph."
        )
