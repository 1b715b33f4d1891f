"""PyG explanations with the additional results of EiG-Search."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.explain import Explanation, HeteroExplanation
from torch_geometric.explain.config import ThresholdConfig, ThresholdType

from eigsearch.inputs.typed_graph import Schema

_NEVER_CUT = {
    "size", "num_groups", "sparsity", "fidelity_plus", "fidelity_minus", "gain", "curve",
    "details", "index", "target", "prediction", "feature_score",
    "flipped", "value_after", "prediction_after",
}  # fmt: skip


class EdgeInducedExplanation(Explanation):
    """A PyG `Explanation` of one prediction, or of several explained in one call.

    Beside `edge_mask` (1.0 on the chosen edges) and `edge_score` it has `size`, `num_groups`,
    `sparsity`, `fidelity_plus`, `fidelity_minus`, `gain` and `curve`: a number (or curve) for one
    prediction, a vector (or list) for several. `details` lists the full results, in order. With
    features it has a `node_mask` and a `feature_score`.
    """

    @property
    def size(self) -> int | Tensor:
        """The number of groups in the explanation (PyG's adjacency size is `num_nodes` twice)."""
        return self["size"]

    def is_node_attr(self, key: str) -> bool:
        """Return whether an attribute belongs to nodes; PyG would go by its length alone."""
        return key not in _NEVER_CUT and super().is_node_attr(key)

    def is_edge_attr(self, key: str) -> bool:
        """Return whether an attribute belongs to edges; PyG would go by its length alone."""
        return key not in _NEVER_CUT and super().is_edge_attr(key)

    def threshold(self, *args: Any, **kwargs: Any) -> Explanation:
        """Return the explanation with masks cut by a threshold, as PyG does.

        The k highest of a mask of zeros and ones are not defined, so `topk` orders the chosen
        first and by score within each: k edges come back, also where fewer were chosen.
        """
        config = ThresholdConfig.cast(*args, **kwargs)
        if config is None or config.type is ThresholdType.hard:
            return super().threshold(config)
        ordered = copy.copy(self)
        for mask, score in (("edge_mask", "edge_score"), ("node_mask", "feature_score")):
            if mask in self and score in self and self[mask].shape == self[score].shape:
                ordered[mask] = _ordering(self[mask], self[score])
        return super(EdgeInducedExplanation, ordered).threshold(config)

    def _apply_masks(
        self, node_mask: Tensor | None = None, edge_mask: Tensor | None = None
    ) -> Explanation:
        """Return the subgraph of masks; one of columns, which says nothing of nodes, keeps all."""
        of_columns = isinstance(node_mask, Tensor) and node_mask.numel() != self.num_nodes
        return super()._apply_masks(None if of_columns else node_mask, edge_mask)


def _ordering(mask: Tensor, score: Tensor) -> Tensor:
    """Return values from above 0 to 1: chosen above unchosen, by score within each."""
    chosen, scores = mask.flatten().cpu().numpy(), score.flatten().cpu().numpy()
    # from the lowest on; of equal ones the first comes last, so that it ranks higher
    order = np.lexsort((-np.arange(len(chosen)), scores, chosen))
    rank = np.empty(len(chosen))
    rank[order] = np.arange(1, len(chosen) + 1) / max(len(chosen), 1)
    return torch.from_numpy(rank).to(mask).reshape(mask.shape)


class TypedEdgeExplanation(HeteroExplanation):
    """A PyG `HeteroExplanation`: for every type a float `edge_mask` or `node_mask`, 0 or 1.

    Edge types also have an `edge_score`. The numbers of the explanation (`size`, `gain`, …) and
    `details` are attributes of the whole.
    """

    def set_masks(
        self, schema: Schema, edge_mask: Tensor, edge_score: Tensor, node_mask: Tensor
    ) -> None:
        """Set the masks of all types from those of the flat view."""
        self.set_value_dict("edge_mask", schema.by_edge_type(edge_mask))
        self.set_value_dict("edge_score", schema.by_edge_type(edge_score))
        nodes = node_mask.to(edge_mask.dtype)[:, None]
        self.set_value_dict("node_mask", schema.by_node_type(nodes))

    def get_complement_subgraph(self) -> HeteroExplanation:
        """Return what is left without the chosen edges, and the nodes that still have one."""
        edges = {kind: mask == 0 for kind, mask in self.collect("edge_mask").items()}
        ends = {
            kind: torch.zeros_like(m[:, 0]) > 0 for kind, m in self.collect("node_mask").items()
        }
        for kind, left in edges.items():
            source, target = self[kind].edge_index[:, left]
            ends[kind[0]][source] = True
            ends[kind[2]][target] = True
        return self._apply_masks(ends, edges)


def combine(summaries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the numbers of several predictions as vectors, those of one as they are."""
    if len(summaries) == 1:
        return dict(summaries[0])
    names = summaries[0] if summaries else ()
    columns = {name: [summary[name] for summary in summaries] for name in names}
    return {
        name: column if name == "curve" else torch.tensor(column)
        for name, column in columns.items()
    }
