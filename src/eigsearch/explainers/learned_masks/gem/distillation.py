"""Distillation: which edges a prediction cannot lose, found by removing one after the other."""

from __future__ import annotations

import numpy as np
import torch
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from torch import Tensor
from torch.nn.functional import logsigmoid

from eigsearch.candidates import EvalCoroutine, ExplicitMasks, LeaveOneOut, SubgraphKind
from eigsearch.inference.prediction import PredictedInstance
from eigsearch.inputs.instance import PreparedInstance


def distil(instance: PredictedInstance, top_k: int, disconnected: bool) -> EvalCoroutine[Tensor]:
    """Return the weight of each group in the subgraph that the prediction needs `[G]`.

    Groups are removed by rising loss of their removal, each together with what it cuts off
    (unless `disconnected`). A group whose removal raises the loss above the best so far is put
    back, with the rise as its weight. The `top_k` heaviest are kept; the heaviest weighs one.
    """
    count = instance.groups.count
    (phi,) = yield [LeaveOneOut(count)]
    best = float(-logsigmoid(instance.phi_full))
    keep, weight = torch.ones(count, dtype=torch.bool), torch.zeros(count, dtype=torch.float64)
    for group in (-logsigmoid(phi)).cpu().argsort(stable=True).tolist():
        if not keep[group]:
            continue
        trial = keep.clone()
        trial[group] = False
        trial = trial if disconnected else largest_component(instance, trial)
        (phi,) = yield [ExplicitMasks(trial[None], SubgraphKind.ALL_NODES)]
        loss = float(-logsigmoid(phi[0]))
        if loss > best or not trial.any():
            weight[group] = max(loss - best, 0.0)
        else:
            keep, best = trial, loss
    weight = weight * keep
    weight[weight.argsort(descending=True, stable=True)[top_k:]] = 0
    return weight / weight.max().clamp_min(torch.finfo(weight.dtype).tiny)


def largest_component(instance: PreparedInstance, keep: Tensor) -> Tensor:
    """Return the kept groups in the component of most nodes, or in that of the explained node."""
    source, target, group = instance.edge_arrays
    kept = keep.numpy()[group]
    ones = np.ones(int(kept.sum()))
    matrix = coo_array(
        (ones, (source[kept], target[kept])), shape=(instance.num_nodes, instance.num_nodes)
    )
    _, label = connected_components(matrix, directed=False)
    chosen = np.bincount(label).argmax() if instance.node is None else label[instance.node]
    inside = np.zeros(len(keep), bool)
    inside[group[kept & (label[source] == chosen)]] = True
    return torch.from_numpy(inside)
