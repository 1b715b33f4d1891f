"""Claim: subgraph masks, from any explainer, to be scored on one prediction."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.errors import InputError
from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.inputs.instance import Instance


@dataclass(frozen=True, eq=False)
class Claim:
    """One explanation to be scored, or several of the same prediction.

    With `edge_mask` the subgraph is edge-induced, with `node_mask` node-induced, with both
    node-and-edge-induced. A mask is one row, `[E]` or `[N]`, or a matrix with one row for each of
    several explanations. It holds bools or zeros and ones; any other numbers need a `threshold`,
    and an entry is kept where it lies above. What is removed together is kept together: a group is
    in the subgraph as soon as one of its edges is.

    Attributes:
        data: The graph.
        edge_mask: The edges of the subgraph, aligned with `data.edge_index`.
        node_mask: The nodes of the subgraph.
        target: The explained class (or output column); None for the predicted one.
        node: The explained node; None for a prediction about the graph.
        threshold: Where to cut masks that are not bools.
    """

    data: Data
    edge_mask: Tensor | None = None
    node_mask: Tensor | None = None
    target: int | None = None
    node: int | None = None
    threshold: float | None = None

    def __post_init__(self) -> None:
        if self.edge_mask is None and self.node_mask is None:
            raise InputError(
                "Expected a claim to have an `edge_mask` or a `node_mask` (got neither). "
                "Pass the edges or the nodes of the explanation."
            )
        _check_length("edge_mask", self.edge_mask, int(self.data.num_edges))
        _check_length("node_mask", self.node_mask, int(self.data.num_nodes))
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
        )

    @property
    def instance(self) -> Instance:
        """The prediction that the claim is about."""
        return Instance(self.data, self.target, self.node)

    @property
    def edges(self) -> Tensor:
        """The edge masks as bool rows; nothing is marked where only nodes are given."""
        return self._rows(self.edge_mask, int(self.data.num_edges))

    @property
    def nodes(self) -> Tensor:
        """The node masks as bool rows; nothing is marked where only edges are given."""
        return self._rows(self.node_mask, int(self.data.num_nodes))

    @property
    def shape(self) -> torch.Size:
        """The shape of the answer: `[]` for one explanation, `[M]` for M."""
        mask = self.node_mask if self.edge_mask is None else self.edge_mask
        assert mask is not None
        return mask.shape[:-1]

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
