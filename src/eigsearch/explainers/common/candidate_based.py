"""Explainers that rank by candidates, which an engine evaluates."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.candidates import EvalCoroutine
from eigsearch.engines import scheduler
from eigsearch.engines.predictor import Predictor
from eigsearch.explainers.base import Method
from eigsearch.inference.eval_mode import eval_mode
from eigsearch.inference.prediction import PredictedInstance
from eigsearch.inputs.instance import Instance
from eigsearch.options import Options
from eigsearch.ranking.ranking import Ranking


class CandidateExplainer(Method):
    """An edge-level explainer that scores edge groups from evaluated candidates.

    `explain` and `explain_dataset` share its model calls between graphs; `rank` serves one.
    """

    @abstractmethod
    def propose(self, instance: PredictedInstance) -> EvalCoroutine[Ranking]:
        """Yield candidate sets until the ranking of the instance's groups is known."""

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return the score of each edge's group, zero outside the receptive field."""
        with eval_mode(model):
            predictor = Predictor(model, Options())
            (instance,) = predictor.predict([Instance(data, target, node)])
            if instance.groups.count == 0:
                return torch.zeros(data.num_edges, dtype=torch.float64)
            (ranking,) = scheduler.run_batched(
                [(instance, self.propose(instance))], predictor.evaluator
            )
        local = ranking.score[instance.groups.index.cpu()]
        if instance.edges is None:
            return local
        score = torch.zeros(data.num_edges, dtype=local.dtype)
        score[instance.edges.cpu()] = local
        return score
