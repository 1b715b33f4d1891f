"""One prediction of a private model copy, differentiable in features and edge weights."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from eigsearch.candidates import SubgraphKind
from eigsearch.engines.batched.disjoint_union import extract, full_graph, to_batch
from eigsearch.engines.batched.engine import DEFAULT_BATCH_NODES
from eigsearch.errors import ModelError, UnsupportedError
from eigsearch.explainers.common.edge_weights import reset_explain_state, set_message_weights
from eigsearch.inference.configured_model import ConfiguredModel
from eigsearch.inference.eval_mode import eval_mode
from eigsearch.inference.last_op import last_op
from eigsearch.inference.model_call import ModelCall
from eigsearch.inference.output_type import read_outputs, resolve_target
from eigsearch.inference.target import Target
from eigsearch.inputs.edge_groups import make_groups
from eigsearch.inputs.instance import PreparedInstance
from eigsearch.inputs.validation import validate_graph
from eigsearch.tasks import anchors_of


class DifferentiablePrediction:
    """A model's prediction for one graph or node, as a function of features and edge weights.

    The model is copied, unless it is `private` to the caller already.

    Attributes:
        model: The private copy, in evaluation mode.
        data: The graph.
        node: The explained node, or None for a graph-level prediction.
        target: The explained entry of the model's output.
    """

    def __init__(
        self, model: Any, data: Data, target: int, node: int | None, private: bool = False
    ) -> None:
        validate_graph(data)
        self.data, self.node = data, node
        self.model = model if private else private_copy(model)
        self._caller = ModelCall(self.model)
        self._caller.check(data)
        groups, anchors = make_groups("directed", data), anchors_of(node)
        self._instance = PreparedInstance(data, data, groups, anchors, anchors)
        self._last: Batch | None = None
        self.target = self._resolve(target)

    def outputs(
        self, x: Tensor | None = None, weights: Tensor | None = None, copies: int = 1
    ) -> Tensor:
        """Return the model's output rows for the explained prediction, `[copies, C]`."""
        output = self.all_rows(x, weights, copies)
        return output if self.node is None else output[self.node :: int(self.data.num_nodes)]

    def all_rows(
        self, x: Tensor | None = None, weights: Tensor | None = None, copies: int = 1
    ) -> Tensor:
        """Return all output rows of the model: one for each copy, or for each of its nodes.

        `x` replaces the node features of all copies, `[copies · N, F]`; `weights` multiplies the
        messages of their edges, `[copies · E]`.
        """
        batch = copy.copy(self._batch(copies))
        if x is not None:
            batch.x = x
        with set_message_weights(self.model, weights, batch.edge_index):
            output = self._caller(batch)
        rows = copies if self.node is None else copies * int(self.data.num_nodes)
        if output.dim() > 0 and output.size(0) != rows and not (output.dim() == rows == 1):
            raise ModelError(
                f"Expected the model to return {rows} rows (got shape {list(output.shape)}). Pass "
                "a node for a model that predicts nodes, and none for one that predicts graphs."
            )
        return output.reshape(rows, -1)

    def scores(
        self, x: Tensor | None = None, weights: Tensor | None = None, copies: int = 1
    ) -> Tensor:
        """Return the class score for each copy: what the model itself returns for the class.

        A single binary output speaks for class 1, and its negative for class 0.
        """
        output = self.outputs(x, weights, copies)
        if self.target.task == "binary_classification" and output.size(1) == 1:
            return output[:, 0] if self.target.index == 1 else -output[:, 0]
        return output[:, self.target.index]

    def features(self) -> Tensor:
        """Return the node features as a leaf to differentiate by."""
        x = self.data.get("x")
        if x is None or not x.is_floating_point():
            raise UnsupportedError(
                "Expected node features `x` that a gradient exists for (got "
                f"{'none' if x is None else x.dtype}). Choose a method that removes or weighs "
                "edges."
            )
        return x.detach().clone().requires_grad_()

    def weights(self, copies: int = 1) -> Tensor:
        """Return edge weights of one as a leaf to differentiate by."""
        like = next((p for p in _parameters(self.model) if p.is_floating_point()), None)
        dtype = torch.get_default_dtype() if like is None else like.dtype
        device = self.data.edge_index.device
        ones = torch.ones(copies * self.data.num_edges, dtype=dtype, device=device)
        return ones.requires_grad_()

    @property
    def takes_copies(self) -> bool:
        """Whether several copies of the graph may share one call."""
        return self.node is not None or self._caller.takes_batch

    @property
    def copies_per_call(self) -> int:
        """The number of copies of the graph that one call may hold."""
        if not self.takes_copies:
            return 1
        return max(DEFAULT_BATCH_NODES // int(self.data.num_nodes), 1)

    def _batch(self, copies: int) -> Batch:
        if self._last is None or self._last.num_graphs != copies:
            self._last = self._union(copies)
        return self._last

    def _union(self, copies: int) -> Batch:
        rows = torch.ones(copies, self._instance.groups.count, dtype=torch.bool)
        return to_batch([extract(self._instance, rows, SubgraphKind.ALL_NODES)], self._caller.needs)

    def _resolve(self, target: int) -> Target:
        rows = self.outputs().detach()
        configured = self.model if isinstance(self.model, ConfiguredModel) else None
        output_type = read_outputs(
            rows,
            task=configured.task if configured else "auto",
            return_type=configured.return_type if configured else "auto",
            labels=[self.data.get("y")],
            last_op=lambda: last_op(self.outputs),
        )
        return resolve_target(output_type, rows[0], target)[0]


def predicts_nodes(model: Any, data: Data) -> bool:
    """Return whether a model returns a row per node rather than one per graph."""
    instance = PreparedInstance(data, data, make_groups("directed", data))
    model_call = ModelCall(model)
    model_call.check(data)
    with torch.no_grad():
        output = model_call(to_batch([full_graph(instance)], model_call.needs))
    return output.dim() > 0 and output.size(0) == data.num_nodes > 1


@contextmanager
def gradients() -> Iterator[None]:
    """Enable gradients in a block, also inside inference mode."""
    with torch.inference_mode(False), torch.enable_grad():
        yield


def gradient(score: Tensor, leaf: Tensor) -> Tensor:
    """Return the gradient of a score, zero if the score does not depend on the leaf."""
    if not score.requires_grad:
        return torch.zeros_like(leaf)
    (found,) = torch.autograd.grad(score, leaf, allow_unused=True)
    return torch.zeros_like(leaf) if found is None else found


def private_copy(model: Any) -> Any:
    """Return a deep copy of a model in evaluation mode, with masks and hooks of PyG reset."""
    model = getattr(model, "_orig_mod", model)  # what torch.compile wraps
    if not isinstance(model, torch.nn.Module):
        return model
    with eval_mode(model):
        try:
            copied = copy.deepcopy(model)
        except (RuntimeError, TypeError) as error:
            raise UnsupportedError(
                f"Expected a model that can be copied (got: {error}). Choose a method that only "
                "asks for predictions."
            ) from error
    reset_explain_state(copied)
    return copied


def _parameters(model: Any) -> Iterator[Tensor]:
    return model.parameters() if isinstance(model, torch.nn.Module) else iter(())
