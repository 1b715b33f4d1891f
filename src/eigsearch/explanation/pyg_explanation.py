"""The result in PyG's words: an `Explanation` that carries what EiG-Search found out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch_geometric.explain import Explanation

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
        """Tell whether an attribute belongs to nodes; PyG would go by its length alone."""
        return key not in _NEVER_CUT and super().is_node_attr(key)

    def is_edge_attr(self, key: str) -> bool:
        """Tell whether an attribute belongs to edges; PyG would go by its length alone."""
        return key not in _NEVER_CUT and super().is_edge_attr(key)

    def _apply_masks(
        self, node_mask: Tensor | None = None, edge_mask: Tensor | None = None
    ) -> Explanation:
        """Return the subgraph of masks; one of columns, which says nothing of nodes, keeps all."""
        if node_mask is not None and node_mask.numel() != self.num_nodes:
            node_mask = None
        return super()._apply_masks(node_mask, edge_mask)


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
