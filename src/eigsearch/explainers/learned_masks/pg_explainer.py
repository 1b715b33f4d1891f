"""PGExplainer: one small network, trained over a data set, masks the edges of any graph of it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor
from torch.nn.utils import clip_grad_value_
from torch_geometric.data import Data
from torch_geometric.explain.algorithm import PGExplainer as PyGPGExplainer
from torch_geometric.utils import get_embeddings

from eigsearch.explainers.base import (
    Card,
    Method,
    ScoreType,
    check_choice,
    seeded,
    share_directions,
)
from eigsearch.explainers.common.differentiable import (
    DifferentiablePrediction,
    gradients,
    private_copy,
)
from eigsearch.explainers.common.edge_weights import message_layers
from eigsearch.explainers.common.pyg_adapter import PyGAdapter
from eigsearch.explainers.common.training_data import check_width, not_trained, training_predictions

_NODE_WEIGHTS = (0.05, 1.0)  # of the masks' sum and entropy
_GRAPH_WEIGHTS = (0.0005, 0.0005)
_CLIP = 2.0  # of gradients, in the authors' notebooks


class PGExplainer(Method):
    """Scores an edge by an MLP on the embeddings of its ends, through PyG's implementation.

    `fit` trains the MLP to keep the predictions of the model under sampled masks, whose temperature
    falls from `temperature[0]` to `temperature[1]`; `losses` then holds the mean loss per epoch.
    For a node task the embedding of the explained node is a third input, and each epoch trains on
    `num_nodes` nodes of the graph; embeddings are those of a node's computation graph, where the
    authors take them from the whole graph. Scores are the logits of the mask.

    `edge_size` weighs the sum of the masks and `edge_ent` their entropy; by default 0.05 and 1 for
    nodes, as published, and 0.0005 for graphs, where a prediction often costs less than the masks
    of a small graph do and the published ones make all masks vanish. Both ends say little: where
    all masks are near 0, or all near 1, what is left of the order is the size of embeddings.

    With `preset="authors"` it trains as the authors' notebooks do: one step per epoch on the sum
    over all predictions, gradients clipped at ±2, and embeddings of all layers side by side. Their
    weights differ by data set (0 and 0 on BA-2Motifs): pass them.

    A mask that is neither 0 nor 1 is a graph that no model was trained on. Where predictions fall
    on the way from one to the other, training ends at masks that drop what a class needs: houses
    of BA-2Motifs rank last for the GIN of the zoo (docs/design/soft-masks.md has the figures).
    """

    card: ClassVar[Card] = Card(
        name="PGExplainer",
        level="edge",
        citation="Luo et al., Parameterized Explainer for GNNs, NeurIPS 2020",
        score_type=ScoreType.LOGIT,
        faithful_to="PyG's implementation",
        cost="one forward pass, after training",
        deviations=(
            "embeddings of the computation graph, not of the full graph",
            "size and entropy of the masks of graphs weigh 0.0005, where the paper has 0.05 and 1",
        ),
        trains=True,
        needs=("gradients", "PyG layers", "embeddings"),
        seeded=True,
        color="orange",
        dash="dashed",
    )
    cheap_options = MappingProxyType({"epochs": 2, "num_nodes": 3})

    def __init__(
        self,
        epochs: int = 30,
        lr: float = 0.003,
        edge_size: float | None = None,
        edge_ent: float | None = None,
        temperature: tuple[float, float] = (5.0, 2.0),
        num_nodes: int = 60,
        seed: int = 0,
        preset: Literal["library", "authors"] = "library",
    ) -> None:
        check_choice("preset", preset, ("library", "authors"))
        self.preset = preset
        self.epochs = epochs
        self.lr = lr
        self.edge_size = edge_size
        self.edge_ent = edge_ent
        self.temperature = temperature
        self.num_nodes = num_nodes
        self.seed = seed
        self.losses: list[float] = []
        self._algorithm: PyGPGExplainer | None = None

    def _fit(self, model: Any, dataset: Sequence[Data]) -> None:
        """Train the MLP on a private copy of the model."""
        with gradients(), seeded(self.seed, dataset[0].edge_index.device):
            copied = private_copy(model)
            message_layers(copied)
            predictions = training_predictions(copied, dataset, self.num_nodes, self.train_nodes)
            adapters = [PyGAdapter(prediction, every_node=True) for prediction in predictions]
            algorithm = self._untrained(adapters[0])
            optimizer = algorithm.optimizer
            if self.preset == "authors":
                algorithm.optimizer = _NoStep()
            self.losses = []
            for epoch in range(self.epochs):
                order = torch.randperm(len(adapters)).tolist()
                losses = [_step(algorithm, epoch, adapters[i]) for i in order]
                self.losses.append(sum(losses) / len(losses))
                if self.preset == "authors":
                    clip_grad_value_(algorithm.mlp.parameters(), _CLIP)
                    optimizer.step()
                    optimizer.zero_grad()
            algorithm.optimizer = optimizer
        self._algorithm = algorithm

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return the logit of each edge's mask."""
        if self._algorithm is None:
            raise not_trained(self.name)
        with gradients():
            prediction = DifferentiablePrediction(model, data, target, node)
            message_layers(prediction.model)
            adapter = PyGAdapter(prediction, every_node=True)
            inputs = _edge_inputs(self._algorithm, adapter)
            check_width(self.name, self._input_width, inputs.size(1))
            with torch.no_grad():
                logits = self._algorithm.mlp(inputs).flatten()
        return share_directions(logits, data)

    @property
    def _input_width(self) -> int:
        """The width of the inputs that the MLP was trained on."""
        assert self._algorithm is not None
        return self._algorithm.mlp[0].in_channels

    def _make_algorithm(self, adapter: PyGAdapter) -> PyGPGExplainer:
        """Return PyG's algorithm, with the MLP that will be trained."""
        return PyGPGExplainer(self.epochs, self.lr)

    def _untrained(self, adapter: PyGAdapter) -> PyGPGExplainer:
        """Return PyG's algorithm with hyper-parameters of its own, which PyG shares by class."""
        size, entropy = _GRAPH_WEIGHTS if adapter.index is None else _NODE_WEIGHTS
        algorithm = self._make_algorithm(adapter)
        algorithm.coeffs = {
            **PyGPGExplainer.coeffs,
            "edge_size": size if self.edge_size is None else self.edge_size,
            "edge_ent": entropy if self.edge_ent is None else self.edge_ent,
            "temp": list(self.temperature),
        }
        if self.preset == "authors":
            algorithm._get_embeddings = _all_embeddings
        algorithm.connect(*adapter.configs("phenomenon"))
        algorithm.mlp(
            _edge_inputs(algorithm, adapter)
        )  # PyG draws the weights when the MLP first runs
        return algorithm


class _NoStep:
    """An optimiser for PyG's training step that leaves gradients to add up over an epoch."""

    def zero_grad(self) -> None:
        """Keep the gradients."""

    def step(self) -> None:
        """Keep the parameters."""


def _all_embeddings(model: PyGAdapter, x: Tensor, edge_index: Tensor) -> Tensor:
    """Return the node embeddings of all layers, side by side."""
    return torch.cat(get_embeddings(model, x, edge_index), dim=-1)


def _step(algorithm: PyGPGExplainer, epoch: int, adapter: PyGAdapter) -> float:
    """Train on one prediction; return the loss."""
    with warnings.catch_warnings():  # PyG makes a number of a loss that still has its gradient
        warnings.filterwarnings("ignore", "Converting a tensor with requires_grad")
        return algorithm.train(
            epoch, adapter, *adapter.inputs, target=adapter.target, index=adapter.index
        )


def _edge_inputs(algorithm: PyGPGExplainer, adapter: PyGAdapter) -> Tensor:
    """Return the embeddings of the ends of each edge, and those of the explained node."""
    embedding = algorithm._get_embeddings(adapter, *adapter.inputs)
    return algorithm._get_inputs(embedding, adapter.inputs[1], adapter.index)
