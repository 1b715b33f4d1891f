"""Masks and scores of an explanation: one value per edge, node or feature of the user's graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from eigsearch.explanation.features import features_of, per_entry, squeezed
from eigsearch.explanation.fields import ExplanationFields
from eigsearch.inputs.relations import EdgeType
from eigsearch.inputs.typed_graph import FlatView, flat_view
from eigsearch.search.connected import count_components


@dataclass(frozen=True, eq=False)
class ExplanationMasks(ExplanationFields):
    """An explanation's choice and scores, from groups to edges, nodes and features."""

    @property
    def edge_mask(self) -> Any:
        """The chosen subgraph, bool `[E]`, aligned with `edge_index`; by edge type if typed."""
        return self._by_edge_type(self.flat_edge_mask)

    @property
    def edge_score(self) -> Any:
        """The score of the group that each edge is in, `[E]`; 0 where no group can reach.

        A dict by edge type if the graph is typed.
        """
        return self._by_edge_type(self.flat_edge_score)

    @property
    def edge_share(self) -> Any:
        """The share of the near-optimal subgraphs that hold each edge, `[E]`; by edge type."""
        return self._by_edge_type(self._per_edge(self.near_optimal.share))

    @property
    def node_mask(self) -> Any:
        """The nodes of the subgraph, bool `[N]`: the ends of its edges, and the explained nodes.

        A dict by node type if the graph is typed. Where features of nodes were asked for, it is
        what PyG calls so, the chosen features: `[1, F]` for columns, `[N, 1]` for nodes, `[N, F]`
        for entries.
        """
        if any(part.attribute == "x" for part in self.features):
            return per_entry(self, features_of(self, "x"), self.keep)
        schema, mask = self.flat.schema, self.flat_node_mask
        return mask if schema is None else schema.by_node_type(mask)

    @property
    def sizes_by_type(self) -> dict[EdgeType, int]:
        """The number of chosen edges of each type; empty for a graph without types."""
        schema = self.flat.schema
        if schema is None:
            return {}
        chosen = schema.by_edge_type(self.flat_edge_mask)
        return {kind: int(mask.sum()) for kind, mask in chosen.items()}

    @property
    def feature_mask(self) -> Tensor:
        """The chosen features of nodes, bool: `[F]` for columns, `[N]` for nodes, else `[N, F]`."""
        return squeezed(self, "x", self.keep)

    @property
    def feature_score(self) -> Tensor:
        """The score of the group that each feature of nodes is in, shaped as `feature_mask`."""
        return squeezed(self, "x", self.score)

    @property
    def feature_share(self) -> Tensor:
        """The share of the near-optimal subgraphs that hold each feature, as `feature_mask`."""
        return squeezed(self, "x", self.near_optimal.share)

    @property
    def edge_feature_mask(self) -> Tensor:
        """The chosen columns of `edge_attr`, bool `[D]`."""
        return squeezed(self, "edge_attr", self.keep)

    @property
    def edge_feature_score(self) -> Tensor:
        """The score of each column of `edge_attr`, `[D]`."""
        return squeezed(self, "edge_attr", self.score)

    @property
    def components(self) -> int:
        """The number of connected pieces of the subgraph; the explained nodes belong to it."""
        nodes = self.flat_node_mask.nonzero().flatten().tolist()
        return count_components(self.evaluated_ends[:, self._present].cpu().numpy(), nodes)

    @property
    def flat(self) -> FlatView:
        """The graph without types, in which those of a typed graph are numbered type by type."""
        return flat_view(self.data, paired=False)

    @property
    def evaluated_ends(self) -> Tensor:
        """The ends of the evaluated edges by their number in the flat view, `[2, e]`."""
        return self.flat.ends(self.edges)

    @property
    def flat_anchors(self) -> list[int]:
        """The explained nodes by their number in the flat view."""
        schema = self.flat.schema
        return [a if schema is None else schema.flat_node(a) for a in self.anchors]

    @property
    def flat_edge_mask(self) -> Tensor:
        """The chosen subgraph in the flat view, bool `[E]`."""
        return self._per_edge(self.keep)

    @property
    def flat_edge_score(self) -> Tensor:
        """The score of the group that each edge of the flat view is in, `[E]`."""
        return self._per_edge(self.score)

    @property
    def flat_node_mask(self) -> Tensor:
        """The nodes of S as the model saw it, in the flat view, bool `[N]`."""
        ends = self.evaluated_ends[:, self._present]
        mask = torch.zeros(self.flat.num_nodes, dtype=torch.bool)
        mask[ends.flatten().cpu()] = True
        mask[self.flat_anchors] = True
        for part in self.features:
            if part.attribute == "x" and part.by_row:
                mask |= per_entry(self, part, self.keep).any(dim=1).cpu()
        if self.features and self.edges is None and not (mask.any() and self.num_edge_groups):
            mask[:] = True  # what has no edge to go by keeps every node
        return mask.to(ends.device)

    @property
    def _present(self) -> Tensor:
        """The evaluated edges that are in S as the model saw it: chosen, or never removed."""
        return self._per_evaluated_edge(self.keep) | (self.group < 0)

    def _by_edge_type(self, flat: Tensor) -> Any:
        schema = self.flat.schema
        return flat if schema is None else schema.by_edge_type(flat)

    def _per_edge(self, per_group: Tensor) -> Tensor:
        """Return a value per group for each edge of the graph."""
        return self._spread(self._per_evaluated_edge(per_group))

    def _per_evaluated_edge(self, per_group: Tensor) -> Tensor:
        per_group = per_group.to(self.group.device)
        # An edge that is never removed is in group −1, and takes the zero at the end.
        return torch.cat([per_group, per_group.new_zeros(1)])[self.group]

    def _spread(self, local: Tensor) -> Tensor:
        """Return values of the evaluated edges for all edges of the graph."""
        if self.edges is None:
            return local
        spread = local.new_zeros(self.flat.num_edges)
        spread[self.edges] = local
        return spread
