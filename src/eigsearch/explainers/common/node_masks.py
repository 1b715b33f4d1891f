"""Evaluation of keep-rows over the nodes of one prediction's graph."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.candidates import ExplicitMasks, SubgraphKind
from eigsearch.engines import Request
from eigsearch.engines.predictor import Predictor
from eigsearch.errors import UnsupportedError
from eigsearch.inference.eval_mode import eval_mode
from eigsearch.inference.prediction import PredictedInstance
from eigsearch.inputs.instance import Instance
from eigsearch.options import Options


@dataclass(frozen=True, eq=False)
class NodeMaskEvaluator:
    """Evaluates keep-rows over nodes for one prediction.

    Attributes:
        predictor: What calls the model.
        instance: The prediction, on its computation graph.
    """

    predictor: Predictor
    instance: PredictedInstance

    @property
    def data(self) -> Data:
        """The computation graph of the prediction."""
        return self.instance.data

    @property
    def count(self) -> int:
        """The number of nodes of that graph."""
        return int(self.data.num_nodes)

    def values(self, rows: Tensor, subgraph_kind: SubgraphKind) -> Tensor:
        """Return the probability of the class (or the regressed value) for each keep-row.

        Equal rows are evaluated once.
        """
        unique, where = torch.unique(rows, dim=0, return_inverse=True)
        (phi,) = self.predictor.evaluator.scores(
            [Request(self.instance, ExplicitMasks(unique, subgraph_kind))]
        )
        return self.instance.target.value(phi).cpu()[where]

    def split_values(self, rows: Tensor) -> Tensor:
        """Return the value for each keep-row, with the edges of absent nodes removed.

        All nodes keep their features, so absent ones are isolated ("split" of the authors of
        SubgraphX).
        """
        groups = self.instance.groups
        if groups.count == 0:
            return self.instance.target.value(self.instance.phi_full).cpu().expand(len(rows))
        removable = groups.index >= 0
        source, target = self.data.edge_index[:, removable]
        absent = ~(rows[:, source.cpu()] & rows[:, target.cpu()])
        lost = torch.zeros(len(rows), groups.count, dtype=torch.long)
        lost.index_add_(1, groups.index[removable].cpu(), absent.long())
        return self.values(lost == 0, SubgraphKind.ALL_NODES)

    def scatter_node_scores(self, score: Tensor) -> Tensor:
        """Return scores for all nodes of the source graph, the lowest where unreachable."""
        if self.instance.nodes is None:
            return score.float()
        every = torch.full((int(self.instance.source.num_nodes),), float(score.min()))
        every[self.instance.nodes.cpu()] = score.float()
        return every

    def scatter_edge_scores(self, score: Tensor) -> Tensor:
        """Return scores for all edges of the source graph, the lowest where unreachable."""
        if self.instance.edges is None:
            return score
        lowest = float(score.min()) if score.numel() else 0.0
        every = torch.full((int(self.instance.source.num_edges),), lowest)
        every[self.instance.edges.cpu()] = score.float().cpu()
        return every


@contextmanager
def evaluate_node_masks(
    model: Any, data: Data, target: int, node: int | None
) -> Iterator[NodeMaskEvaluator]:
    """Yield an evaluator of one prediction; the model is in evaluation mode meanwhile."""
    with eval_mode(model):
        predictor = Predictor(model, Options())
        (instance,) = predictor.predict([Instance(data, target, node)])
        yield NodeMaskEvaluator(predictor, instance)


def require_features(data: Data, name: str) -> None:
    """Raise UnsupportedError if a graph has no node features to perturb."""
    if data.get("x") is None:
        raise UnsupportedError(
            f"Expected the graph to have node features `x`, which {name} perturbs (got none). "
            "Set `data.x`, or choose a method that removes edges."
        )
