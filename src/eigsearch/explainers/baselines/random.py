"""Random: scores that know nothing, the floor of every comparison."""

from __future__ import annotations

import zlib
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.explainers.base import EVERY_TASK, Card, Method, ScoreType, seeded, share_directions


class Random(Method):
    """Scores edges by independent uniform numbers.

    The numbers depend on the seed and on the graph, so that graphs of one size differ.
    """

    card: ClassVar[Card] = Card(
        name="Random",
        level="edge",
        citation="none",
        score_type=ScoreType.PROBABILITY,
        faithful_to="uniform random numbers",
        cost="no model call",
        tasks=EVERY_TASK,
        typed=True,
        seeded=True,
        color="grey",
        dash="dashed",
    )

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return a random number for each edge, the same for both directions."""
        graph = zlib.crc32(data.edge_index.cpu().contiguous().numpy().tobytes())
        with seeded(self.seed + graph):
            return share_directions(torch.rand(data.num_edges), data)
