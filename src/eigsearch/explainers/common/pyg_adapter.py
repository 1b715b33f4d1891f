"""Adapter for PyG's explanation algorithms: any model as a target-vs-rest classifier."""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid
from torch_geometric.explain.config import ExplainerConfig, ModelConfig

from eigsearch.explainers.common.differentiable import DifferentiablePrediction


class PyGAdapter(torch.nn.Module):
    """A differentiable prediction with the call signature that PyG's algorithms expect.

    It returns log-probabilities of "not the target" and "the target", from the log-odds φ; so
    PyG's cross-entropy is −log p of the target whatever the model returns. A regression keeps its
    value, as one column. With a node explained there is a row for it alone, unless `every_node`.

    Attributes:
        model: The private copy, where PyG looks for layers.
        index: The explained node, where there is a row for every node.
    """

    def __init__(self, prediction: DifferentiablePrediction, every_node: bool = False) -> None:
        super().__init__()
        self.model = prediction.model
        self._prediction = prediction
        self.index = None
        if every_node and prediction.node is not None:
            self.index = torch.tensor([prediction.node], device=prediction.data.edge_index.device)
        self.eval()  # PyG reads embeddings in this mode, then goes back to the one it found

    @property
    def inputs(self) -> tuple[Tensor, Tensor]:
        """Features and edges to hand to PyG, which counts them and passes them back unchanged."""
        data = self._prediction.data
        x = data.get("x")
        if x is None or x.dim() != 2:  # kinds of atoms, say: PyG counts rows and columns
            x = data.edge_index.new_zeros(data.num_nodes, 1)
        return x, data.edge_index

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return the rows for the prediction's graph, under the masks that PyG has set."""
        prediction = self._prediction
        output = prediction.outputs() if self.index is None else prediction.all_rows()
        phi = prediction.target.phi(output).to(output.dtype)
        if prediction.target.task == "regression":
            return phi[:, None]
        return torch.stack([logsigmoid(-phi), logsigmoid(phi)], dim=1)

    @cached_property
    def target(self) -> Tensor:
        """What PyG is to explain: the second class, or the value of a regression."""
        with torch.no_grad():
            rows = self(*self.inputs)
        if self._prediction.target.task == "regression":
            return rows
        return torch.ones(rows.size(0), dtype=torch.long, device=rows.device)

    def configs(self, kind: str = "model") -> tuple[ExplainerConfig, ModelConfig]:
        """Return what PyG's algorithms are connected with: an edge mask, for this output."""
        regression = self._prediction.target.task == "regression"
        model = ModelConfig(
            mode="regression" if regression else "multiclass_classification",
            task_level="graph" if self.index is None else "node",
            return_type="raw" if regression else "log_probs",
        )
        return ExplainerConfig(kind, node_mask_type=None, edge_mask_type="object"), model
