"""A ranker that remembers: several searches over one ranking, which is computed and timed once."""

from __future__ import annotations

import time
from typing import Any, Literal

from torch import Tensor
from torch_geometric.data import Data

from eigsearch._utils.fingerprint import digest_of
from eigsearch.explainers import Method


class Remembering:
    """Ranks as a method does, once for each prediction.

    Attributes:
        method: The method.
        cost: The seconds that the last asked ranking took when it was computed.
        spent: The seconds that all rankings took.
    """

    def __init__(self, method: Method) -> None:
        self.method = method
        self.cost = self.spent = 0.0
        self._known: dict[str, tuple[Tensor, float]] = {}

    @property
    def name(self) -> str:
        """The method's name."""
        return self.method.name

    @property
    def level(self) -> Literal["edge", "node"]:
        """Whether the scores are for edges or for nodes."""
        return self.method.level

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return the method's scores."""
        asked = {"x": data.x, "edges": data.edge_index, "target": target, "node": node}
        key = digest_of([asked])
        if key not in self._known:
            start = time.perf_counter()
            scores = self.method.rank(model, data, target, node)
            taken = time.perf_counter() - start
            self._known[key] = scores, taken
            self.spent += taken
        scores, self.cost = self._known[key]
        return scores

    def forget(self) -> None:
        """Forget all rankings, as after a warm-up."""
        self._known.clear()
