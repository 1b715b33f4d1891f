"""A probe: one prediction of a model, asked about with keep-rows over the nodes of its graph."""

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
from eigsearch.errors import UnsupportedError
from eigsearch.inference.model_call import eval_mode
from eigsearch.inputs.instance import PreparedInstance
from eigsearch.options import Options
from eigsearch.pipeline import Instance, Pipeline


@dataclass(frozen=True, eq=False)
class Probe:
    """One prediction, ready to be asked about.

    Attributes:
        run: What calls the model.
        query: The prediction, on the graph that it depends on.
    """

    run: Pipeline
    instance: PreparedInstance

    @property
    def data(self) -> Data:
        """The graph that the prediction depends on."""
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
        (phi,) = self.run.engine.scores(
            [Request(self.instance, ExplicitMasks(unique, subgraph_kind))]
        )
        return self.instance.known_target.value(phi).cpu()[where]

    def spread(self, score: Tensor) -> Tensor:
        """Return scores for all nodes that the user gave; those out of reach get the lowest."""
        if self.instance.nodes is None:
            return score.float()
        every = torch.full((int(self.instance.source.num_nodes),), float(score.min()))
        every[self.instance.nodes.cpu()] = score.float()
        return every

    def spread_edges(self, score: Tensor) -> Tensor:
        """Return scores for all edges that the user gave; those out of reach get the lowest."""
        if self.instance.edges is None:
            return score
        lowest = float(score.min()) if score.numel() else 0.0
        every = torch.full((int(self.instance.source.num_edges),), lowest)
        every[self.instance.edges.cpu()] = score.float().cpu()
        return every


@contextmanager
def probe(model: Any, data: Data, target: int, node: int | None) -> Iterator[Probe]:
    """Hold a model still in evaluation mode while one of its predictions is probed."""
    with eval_mode(model):
        run = Pipeline(model, Options())
        (instance,), _ = run.predict([Instance(data, target, node)])
        yield Probe(run, instance)


def require_features(data: Data, name: str) -> None:
    """Refuse a graph without node features for a method that perturbs them."""
    if data.get("x") is None:
        raise UnsupportedError(
            f"Expected the graph to have node features `x`, which {name} perturbs (got none). "
            "Set `data.x`, or choose a method that removes edges."
        )
