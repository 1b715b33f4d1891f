"""Output norm: the node-task score of the paper, which has no sign."""

from __future__ import annotations

import torch

from eigsearch._utils.tolerances import PHI_ROUNDING, score_rounding
from eigsearch.candidates import EvalCoroutine, FullGraph, LeaveOneOut, RawOutputs
from eigsearch.inference.prediction import PredictedInstance
from eigsearch.inputs.edge_groups import distance_of
from eigsearch.ranking.ranking import Ranking, rank


class OutputNorm:
    """Ranks groups by ‖f(A, X) − f(A^t, X)‖₂ / |A − A^t| over all outputs f of the model.

    The paper scores edges of node tasks so. An edge counts for whatever output it changes, in
    either direction; the class that is explained plays no part.
    """

    def propose(self, instance: PredictedInstance) -> EvalCoroutine[Ranking]:
        """Propose the graph, and the graph without each group."""
        count = instance.groups.count
        full, without = yield [RawOutputs(FullGraph(count)), RawOutputs(LeaveOneOut(count))]
        full, without = full.cpu().double(), without.cpu().double()
        norm = torch.linalg.vector_norm((full - without).flatten(1), dim=1)
        distance = distance_of(instance.groups.weight.cpu())
        # A change below the rounding of the outputs themselves is no change.
        rounding = max(score_rounding(norm), PHI_ROUNDING * float(full.norm()))
        return rank(norm / distance, rounding / distance)
