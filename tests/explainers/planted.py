"""BA-2Motifs with its trained network: what methods that claim to find motifs are held to."""

from collections.abc import Sequence
from functools import cache

import torch
from sklearn.metrics import roc_auc_score
from torch import nn
from torch_geometric.data import Data

from eigsearch import datasets
from eigsearch.explainers.base import Method
from eigsearch.models import zoo

CYCLE, HOUSE = 0, 1

torch.set_num_threads(1)  # threads only wait for each other on graphs this small


@cache
def network() -> nn.Module:
    return zoo.load("BA-2Motifs", "gin")[0]


@cache
def graphs(motif: int, count: int, skip: int = 0) -> tuple[Data, ...]:
    chosen = [graph for graph in datasets.generate("BA-2Motifs") if int(graph.y) == motif]
    return tuple(chosen[skip : skip + count])


def mean_auc(method: Method, chosen: Sequence[Data]) -> float:
    """Return the mean area under the ROC curve of edge scores against the motif's edges."""
    return sum(_auc(method, graph) for graph in chosen) / len(chosen)


def _auc(method: Method, graph: Data) -> float:
    score = method.rank(network(), graph, int(graph.y), None)
    if method.level == "node":
        score = torch.minimum(*score[graph.edge_index])
    return float(roc_auc_score(graph.edge_label, score))
