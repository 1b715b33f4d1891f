"""K-FactExplainer: PGExplainer with several networks, weighted for each graph."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch_geometric.explain.algorithm import PGExplainer as PyGPGExplainer
from torch_geometric.nn import Linear

from eigsearch.explainers.base import Card, ScoreType
from eigsearch.explainers.common.pyg_adapter import PyGAdapter
from eigsearch.explainers.common.scorer import WIDTH
from eigsearch.explainers.learned_masks.pg_explainer import PGExplainer

_SUMMARIES = 3  # mean, maximum and sum of the embeddings of nodes


class KFactExplainer(PGExplainer):
    """Scores an edge by Σ_t p_t(G) · ω_t(z_i, z_j): `k` MLPs, weighted for each graph.

    One MLP per edge cannot tell apart parts that look alike locally and matter in different graphs;
    the selector p, which sees mean, maximum and sum of all embeddings, can. All else is
    PGExplainer, with its options and its faults; with `k` = 1 there is nothing to select and the
    answer is PGExplainer's.
    """

    card: ClassVar[Card] = Card(
        name="K-FactExplainer",
        level="edge",
        citation="Huang, Shirani and Luo, Factorized Explainer for GNNs, AAAI 2024",
        score_type=ScoreType.LOGIT,
        faithful_to="the paper and a third party's code; the authors' is not public",
        cost="one forward pass and `k` small networks; training as PGExplainer",
        deviations=(
            "`k` is an option, where the paper bounds it by bootstrapping",
            "sampling, weights of the loss and training data are those of PGExplainer here",
        ),
        trains=True,
        needs=("gradients", "PyG layers", "embeddings"),
        seeded=True,
        color="grey",
        dash="dashdotdot",
    )
    cheap_options = MappingProxyType({"k": 2, "epochs": 2, "num_nodes": 3})

    def __init__(
        self,
        k: int = 10,
        epochs: int = 30,
        lr: float = 0.003,
        edge_size: float | None = None,
        edge_ent: float | None = None,
        temperature: tuple[float, float] = (5.0, 2.0),
        num_nodes: int = 60,
        seed: int = 0,
    ) -> None:
        super().__init__(epochs, lr, edge_size, edge_ent, temperature, num_nodes, seed)
        self.k = k

    @property
    def _input_width(self) -> int:
        assert self._algorithm is not None
        return self._algorithm.mlp.in_channels

    def _make_algorithm(self, adapter: PyGAdapter) -> PyGPGExplainer:
        return _Factorized(self.k, 2 if adapter.index is None else 3, self.epochs, self.lr)


class _Factorized(PyGPGExplainer):
    """PyG's algorithm with factors in place of its MLP, and a summary of the graph as input."""

    mlp: nn.Module

    def __init__(self, k: int, ends: int, epochs: int, lr: float) -> None:
        super().__init__(epochs, lr)
        self.mlp = Factors(self.mlp, k, ends)
        self.optimizer = torch.optim.Adam(self.mlp.parameters(), lr=lr)

    def _get_inputs(self, embedding: Tensor, edge_index: Tensor, index: Any = None) -> Tensor:
        local = super()._get_inputs(embedding, edge_index, index)
        summary = torch.cat([embedding.mean(dim=0), embedding.amax(dim=0), embedding.sum(dim=0)])
        return torch.cat([local, summary.expand(len(local), -1)], dim=1)


class Factors(nn.Module):
    """Σ_t p_t(summary) · ω_t(local), one logit per row of inputs.

    A row holds `ends` embeddings that ω reads, then three that summarise the graph, which p reads.

    Attributes:
        networks: ω_1 to ω_k; the first is given.
        selector: p, with a sigmoid; None for one network, whose weight is one.
    """

    def __init__(self, first: nn.Module, k: int, ends: int) -> None:
        super().__init__()
        self.networks = nn.ModuleList([first, *(_mlp(1) for _ in range(k - 1))])
        self.selector = nn.Sequential(_mlp(k), nn.Sigmoid()) if k > 1 else None
        self._ends = ends

    @property
    def in_channels(self) -> int:
        """The width of the inputs, known once the networks have run."""
        width = next(m.in_channels for m in self.networks.modules() if isinstance(m, Linear))
        return width * (self._ends + _SUMMARIES) // self._ends

    def forward(self, inputs: Tensor) -> Tensor:
        """Return the logits, `[E, 1]`."""
        width = inputs.size(1) * self._ends // (self._ends + _SUMMARIES)
        local = inputs[:, :width].contiguous()
        logits = torch.cat([network(local) for network in self.networks], dim=1)
        if self.selector is not None:
            logits = logits * self.selector(inputs[:1, width:])
        return logits.sum(dim=1, keepdim=True)


def _mlp(outputs: int) -> nn.Sequential:
    return nn.Sequential(Linear(-1, WIDTH), nn.ReLU(), Linear(WIDTH, outputs))
