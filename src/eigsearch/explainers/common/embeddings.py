"""A model split into its message-passing body and its head, with embeddings recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch
from torch_geometric.nn import Linear as PyGLinear

from eigsearch.candidates import SubgraphKind
from eigsearch.engines.batched.disjoint_union import extract, full_graph, to_batch
from eigsearch.errors import UnsupportedError
from eigsearch.explainers.common.differentiable import private_copy
from eigsearch.explainers.common.edge_weights import message_layers, set_message_weights
from eigsearch.inference.model_call import ModelCall
from eigsearch.inference.prediction import PredictedInstance

_CHECKED = 8  # predictions that the head has to reproduce before it is trusted
_LINEAR = (nn.Linear, PyGLinear)


@dataclass(frozen=True, eq=False)
class ForwardRecord:
    """Output and embeddings of one call of a model.

    Attributes:
        output: The model's output, a row per graph (or per node, for a model that predicts nodes).
        nodes: The output of the last message-passing layer, a row per node.
        embedding: What the head reads, a row per row of the output.
    """

    output: Tensor
    nodes: Tensor
    embedding: Tensor


@dataclass(eq=False)
class _Record:
    nodes: Tensor | None = None
    linear: list[tuple[nn.Module, Tensor]] = field(default_factory=list)


class SplitModel:
    """A private copy of a model, called on batches, that also returns embeddings.

    The embedding is the input of the first linear layer that runs after the last message-passing
    layer on one row per prediction; what follows is the head. A model without such a layer is its
    own embedding. Raises UnsupportedError for a model whose output depends on more than that row.
    """

    def __init__(self, model: Any, instances: Sequence[PredictedInstance]) -> None:
        self.model = private_copy(model)
        self._layers = message_layers(self.model)
        self.model.requires_grad_(False)
        self._caller = ModelCall(self.model)
        self._nodes = instances[0].node is not None
        self._smallest, _ = self.to_batch([min(instances, key=lambda q: int(q.data.num_nodes))])
        self._entry: nn.Module | None = None
        self._find_head(instances[: _CHECKED if self.takes_batch else 1])

    @property
    def takes_batch(self) -> bool:
        """Whether several graphs may share one call."""
        return self._nodes or self._caller.takes_batch

    def batches(
        self, instances: Sequence[PredictedInstance], size: int
    ) -> Iterator[Sequence[PredictedInstance]]:
        """Yield batches of instances that may share a call, at most `size` each."""
        size = size if self.takes_batch else 1
        for start in range(0, len(instances), size):
            yield instances[start : start + size]

    def to_batch(
        self, instances: Sequence[PredictedInstance], keep: Sequence[Tensor] | None = None
    ) -> tuple[Batch, Tensor]:
        """Return the graphs as one batch, and the output rows that are explained.

        With keep-rows over the nodes of each graph, the batch holds the subgraphs that they induce.
        """
        if keep is None:
            pieces = [full_graph(instance) for instance in instances]
        else:
            pieces = [
                extract(q, k, SubgraphKind.NODE_INDUCED)
                for q, k in zip(instances, keep, strict=True)
            ]
        batch = to_batch(pieces, self._caller.needs)
        if not self._nodes:
            return batch, torch.arange(batch.num_graphs)
        start = [0, *accumulate(piece.nodes.numel() for piece in pieces)]
        rows = [p.anchor_positions() + first for p, first in zip(pieces, start, strict=False)]
        return batch, torch.cat(rows)

    def run(self, batch: Batch, weights: Tensor | None = None) -> ForwardRecord:
        """Call the model, with the messages of edges multiplied by weights."""
        with (
            self._recording() as record,
            set_message_weights(self.model, weights, batch.edge_index),
        ):
            output = self._rows(batch, self._caller(batch))
        assert record.nodes is not None
        entry = _first_entry(record, output.size(0))
        return ForwardRecord(output, record.nodes, output if entry is None else entry[1])

    def head(self, embedding: Tensor) -> Tensor:
        """Return the output for rows of the embedding."""
        if self._entry is None:
            return embedding
        handle = self._entry.register_forward_pre_hook(lambda _, args: (embedding, *args[1:]))
        try:
            return self._caller(self._smallest).reshape(embedding.size(0), -1)
        finally:
            handle.remove()

    def _rows(self, batch: Batch, output: Tensor) -> Tensor:
        return output.reshape(int(batch.num_nodes) if self._nodes else batch.num_graphs, -1)

    def _find_head(self, instances: Sequence[PredictedInstance]) -> None:
        """Find the first layer of the head, and check that the head reproduces the output."""
        batch, _ = self.to_batch(instances)
        with torch.no_grad():
            with self._recording() as record:
                output = self._rows(batch, self._caller(batch))
            entry = _first_entry(record, output.size(0))
            if entry is None:
                return
            self._entry = entry[0]
            if not self._reproduces(output, entry[1]):
                raise UnsupportedError(
                    "Expected the output to be computed from one embedding per prediction (got "
                    "a model whose head reads more than that). Choose a method that only asks for "
                    "predictions."
                )

    def _reproduces(self, output: Tensor, embedding: Tensor) -> bool:
        try:
            again = self.head(embedding)
        except RuntimeError:  # rows that do not fit what else the head reads
            return False
        return again.shape == output.shape and torch.allclose(again, output, 1e-3, 1e-4)

    @contextmanager
    def _recording(self) -> Iterator[_Record]:
        """Record layer inputs and outputs within the block, by hooks on the private copy."""
        record = _Record()

        def left(_: nn.Module, __: Any, output: Any) -> None:
            record.nodes = output[0] if isinstance(output, tuple) else output
            record.linear.clear()

        def entered(module: nn.Module, args: Any) -> None:
            record.linear.append((module, args[0]))

        linear = [m for m in self.model.modules() if isinstance(m, _LINEAR)]
        handles = [layer.register_forward_hook(left) for layer in self._layers]
        handles += [layer.register_forward_pre_hook(entered) for layer in linear]
        try:
            yield record
        finally:
            for handle in handles:
                handle.remove()


def _first_entry(record: _Record, rows: int) -> tuple[nn.Module, Tensor] | None:
    return next((entry for entry in record.linear if entry[1].size(0) == rows), None)
