"""Methods that rank by evaluating candidates, and leave that to the engine of a run."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch import lockstep
from eigsearch.caller import undisturbed
from eigsearch.candidates import Asking
from eigsearch.explainers.base import Method
from eigsearch.options import Options
from eigsearch.query import Query
from eigsearch.ranking import Ranking
from eigsearch.run import Question, Run


class AskingMethod(Method):
    """An edge-level method that scores groups by candidates that it asks for.

    `explain` and `explain_dataset` share its model calls between graphs; `rank` serves one.
    """

    @abstractmethod
    def ask(self, query: Query, whole: Tensor) -> Asking[Ranking]:
        """Ask for candidates until the ranking of a query's groups is known."""

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return the score of the group that each edge is in, zero for edges out of reach."""
        with undisturbed(model):
            run = Run(model, Options())
            (query,), (whole,) = run.ask([Question(data, target, node)])
            if query.groups.count == 0:
                return torch.zeros(data.num_edges, dtype=torch.float64)
            (ranking,) = lockstep.run([(query, self.ask(query, whole))], run.engine)
        local = ranking.score[query.groups.index.cpu()]
        if query.edges is None:
            return local
        score = torch.zeros(data.num_edges, dtype=local.dtype)
        score[query.edges.cpu()] = local
        return score
