"""A setting: a data set, a trained network, and the predictions of it that are worth explaining."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from numpy.random import RandomState
from torch import Tensor
from torch_geometric.data import Data

from eigsearch import datasets
from eigsearch._utils.importing import is_import_name
from eigsearch.bench.run.own_parts import load_own_dataset, load_own_network
from eigsearch.datasets import GraphDataset
from eigsearch.inputs.edge_groups import make_groups
from eigsearch.inputs.instance import Instance
from eigsearch.models import zoo
from eigsearch.models.evaluation import predict_classes
from eigsearch.models.published_networks import load_published

# Lu et al. 2024 explain correctly classified graphs of one class, on BA-2Motifs of both.
EXPLAINED_CLASS = {"MUTAG": 1, "NCI1": 1, "Mutagenicity": 0}


@dataclass(frozen=True)
class Prediction:
    """A prediction to explain: which graph, which node of it (or None), which class."""

    graph: int
    node: int | None
    target: int


@dataclass(frozen=True, eq=False)
class Setting:
    """A loaded data set and its network."""

    dataset: GraphDataset
    model: Any

    def instance(self, prediction: Prediction) -> Instance:
        """Return what to ask about a prediction."""
        return Instance(self.dataset[prediction.graph], prediction.target, prediction.node)

    def sample(self, count: int, seed: int, max_groups: int | None = None) -> list[Prediction]:
        """Return predictions drawn with a seed from all that are correct and explained.

        A node set is asked about nodes of motifs: nothing is known about the others.
        """
        right = [p for p in self._correct() if self._is_small(p, max_groups)]
        order = RandomState(seed).permutation(len(right))
        return [right[index] for index in order[:count]]

    def training_graphs(self, count: int | None, every_class: bool) -> list[Data]:
        """Return about `count` graphs, evenly spaced, for an explainer that trains.

        They are those that are explained: correctly classified, of the explained classes. With
        `every_class` the others are among them, for explainers that look for boundaries.
        """
        if self.dataset.task != "graph" or every_class:
            graphs = list(self.dataset.graphs)
        else:
            graphs = [self.dataset[prediction.graph] for prediction in self._correct()]
        return graphs[:: 1 if count is None else max(1, len(graphs) // count)]

    def explained_nodes(self) -> list[int] | None:
        """Return the nodes that may be explained, which trained explainers learn from."""
        if self.dataset.task == "graph":
            return None
        return [p.node for p in self._correct() if p.node is not None]

    def _correct(self) -> list[Prediction]:
        label, predicted = _classes(self)
        wanted = EXPLAINED_CLASS.get(self.dataset.name)
        right = label == predicted
        if wanted is not None:
            right &= label == wanted
        if self.dataset.task == "node" and "node_motif" in self.dataset[0]:
            right &= self.dataset[0].node_motif >= 0
        node_task = self.dataset.task == "node"
        return [
            Prediction(0 if node_task else row, row if node_task else None, int(label[row]))
            for row in right.nonzero().flatten().tolist()
        ]

    def _is_small(self, prediction: Prediction, max_groups: int | None) -> bool:
        if max_groups is None:
            return True
        return make_groups("auto", self.dataset[prediction.graph]).count <= max_groups


@lru_cache(maxsize=16)
def load_dataset(name: str) -> GraphDataset:
    """Return a data set of the registry, or one that a function of the user makes.

    A process loads it once: all networks for it explain the same graphs.
    """
    return load_own_dataset(name) if is_import_name(name) else datasets.load(name)


@lru_cache(maxsize=32)
def load_setting(dataset: str, model: str, weights: str | None = None, replica: int = 0) -> Setting:
    """Return a setting; a process that does several runs of it loads it once.

    With `weights`, a directory of the user, the network is the paper's own, else the zoo's, of
    which there may be several replicas.
    """
    data = load_dataset(dataset)
    if is_import_name(model):
        return Setting(data, load_own_network(model, data))
    if weights is not None:
        return Setting(data, load_published(weights, dataset, model))
    return Setting(data, zoo.load(dataset, model, replica)[0])


@lru_cache(maxsize=32)
def _classes(setting: Setting) -> tuple[Tensor, Tensor]:
    """Return the true and the predicted class of each graph, or of each node."""
    return predict_classes(setting.model, setting.dataset)
