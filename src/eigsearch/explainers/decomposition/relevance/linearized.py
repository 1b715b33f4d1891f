"""A prediction as a multilinear function: every gate and normaliser held at its value.

A first call of the model records, in the order of operations, which ReLUs are open, by how much
rows are normalised and, for a rule of relevance propagation, the ratio of each linear map. Later
calls replay these held values. The result is linear in the features, in the messages of each layer
and in the gates, so that gradients of it are exact shares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch_geometric.nn import GCNConv, MessagePassing

from eigsearch.errors import UnsupportedError
from eigsearch.explainers.common.differentiable import DifferentiablePrediction
from eigsearch.explainers.common.edge_weights import message_layers
from eigsearch.explainers.decomposition import operations as ops
from eigsearch.explainers.decomposition.relevance.rules import NORMALISATION, Rule


@dataclass(eq=False)
class Variables:
    """The variables of one call, as leaves to differentiate by.

    Attributes:
        x: The node features.
        scale: What every message and every gate is multiplied by.
        biases: Whether biases are on; without them the output is the part that features make.
        messages: For each message-passing layer, the weights of its messages and their edges.
        gates: For each activation, its gates and the number of layers that ran before it.
    """

    x: Tensor
    scale: float = 1.0
    biases: bool = True
    messages: list[tuple[Tensor, Tensor]] = field(default_factory=list)
    gates: list[tuple[Tensor, int]] = field(default_factory=list)


class LinearizedPrediction:
    """A differentiable prediction with its gates, normalisers and ratios held.

    Attributes:
        num_variables: The degree of the output in messages and gates.
        num_linear: The number of linear maps.
    """

    def __init__(self, prediction: DifferentiablePrediction, rule: Rule | None = None) -> None:
        self._prediction = prediction
        self._rule = rule
        self._layers = _prepare(prediction.model)
        self._held: list[Tensor | None] = []
        recorder = _Recorder(rule, self._held)
        self.value = self._call(recorder, prediction.features(), recorder.count_message_layer)
        self.num_variables = recorder.num_layers + recorder.num_gates
        self.num_linear = recorder.num_linear

    def run(self, variables: Variables) -> Tensor:
        """Return the class score as a multilinear function of the variables."""
        replayer = _Replayer(self._rule, self._held, variables)
        return self._call(replayer, variables.x, replayer.weigh_messages)

    def _call(self, mode: _Interceptor, x: Tensor, hook: Callable[..., Tensor]) -> Tensor:
        for layer in self._layers:
            layer.explain_message = _MessageHook(mode, hook).explain_message
        try:
            with mode:
                score = self._prediction.scores(x=x)
        except ops.NoRule as missing:
            raise UnsupportedError(
                "Expected a model of linear maps, ReLUs, and sums or means over neighbours (got "
                f"`{missing}` in {type(self._prediction.model).__name__}). Choose a method that "
                "asks for predictions only."
            ) from missing
        return score.sum()


def _prepare(model: Any) -> list[MessagePassing]:
    """Freeze a private copy, so that only activations have gradients, and hook its messages."""
    layers = message_layers(model)
    model.requires_grad_(False)
    for layer in layers:
        layer.explain = True
        if type(layer) is GCNConv:
            layer.forward = _aggregate_first.__get__(layer)
    return layers


def _aggregate_first(
    self: GCNConv, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None
) -> Tensor:
    """Call a GCN layer as W (Ã h) + b; PyG computes Ã (W h) + b, whose rules would differ."""
    linear, bias = self.lin, self.bias
    self.lin, self.bias = nn.Identity(), None
    try:
        aggregated = GCNConv.forward(self, x, edge_index, edge_weight)
    finally:
        self.lin, self.bias = linear, bias
    return F.linear(aggregated, linear.weight, bias)


class _MessageHook:
    """Gives PyG the method that it calls with the messages of a layer, by name and arguments."""

    def __init__(self, mode: _Interceptor, hook: Callable[..., Tensor]) -> None:
        self._mode, self._hook = mode, hook

    def explain_message(self, inputs: Tensor, edge_index: Tensor) -> Tensor:
        """Return the layer's messages, as the mode changes them."""
        with self._mode.suspended():
            return self._hook(inputs, edge_index)


@dataclass(frozen=True, eq=False)
class _LinearCall:
    """The latest linear map, into which a batch normalisation right after it is merged."""

    output: Tensor
    inputs: Tensor
    weight: Tensor
    bias: Tensor | None


class _Interceptor(TorchFunctionMode):
    """Intercepts the operations on activations; tensors that need no gradient pass."""

    def __init__(self, rule: Rule | None) -> None:
        super().__init__()
        self._rule = rule
        self._closed = self._suspended = False
        self._latest: _LinearCall | None = None
        self.num_linear = self.num_layers = self.num_gates = 0

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Let all operations pass within the block."""
        self._suspended = True
        try:
            yield
        finally:
            self._suspended = False

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Answer an operation on activations by its rule."""
        name, kwargs = getattr(func, "__name__", str(func)), kwargs or {}
        activations = _activations(args, kwargs)
        if self._suspended or not activations or name in ops.QUERIES:
            return func(*args, **kwargs)
        if self._closed and name not in ops.SHAPES:
            raise ops.NoRule(name)
        if name in _RULES:
            return _RULES[name](self, *args, **kwargs)
        if name not in _PASSED or (name in ops.LINEAR and len(activations) > 1):
            raise ops.NoRule(name)
        if name in ops.DIVISIONS and _needs_gradient(args[1]):
            raise ops.NoRule("division by an activation")
        return func(*args, **kwargs)

    def relu(self, input: Tensor, inplace: bool = False) -> Tensor:
        """Gate an activation."""
        return self._gate(input, 0.0)

    def leaky_relu(
        self, input: Tensor, negative_slope: float = 0.01, inplace: bool = False
    ) -> Tensor:
        """Gate an activation, with a slope instead of zero for closed gates."""
        return self._gate(input, negative_slope)

    def dropout(
        self, input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
    ) -> Tensor:
        """Pass dropout in evaluation mode."""
        if training and p > 0:
            raise ops.NoRule("dropout in training mode")
        return input

    def close(self, input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """Pass over a softmax or sigmoid that ends a model: its scores are explained."""
        self._closed = True
        return input

    def linear(self, input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        """Apply a linear map by the rule."""
        output = self._linear(input, weight, bias, self.num_linear)
        self.num_linear += 1
        self._latest = _LinearCall(output, input, weight, bias)
        return output

    def batch_norm(
        self,
        input: Tensor,
        running_mean: Tensor | None,
        running_var: Tensor | None,
        weight: Tensor | None = None,
        bias: Tensor | None = None,
        training: bool = False,
        momentum: float = 0.1,
        eps: float = 1e-5,
    ) -> Tensor:
        """Merge a batch normalisation into the linear map before it, else apply it alone."""
        if training or running_mean is None or running_var is None or input.dim() != 2:
            raise ops.NoRule("batch normalisation by the statistics of a batch")
        scale = (running_var + eps).rsqrt() * (1.0 if weight is None else weight)
        shift = (0.0 if bias is None else bias) - running_mean * scale
        latest = self._latest
        if latest is None or latest.output is not input:
            return self._linear(input, torch.diag(scale), shift, NORMALISATION)
        self._unhold()
        bias = shift if latest.bias is None else shift + scale * latest.bias
        return self._linear(
            latest.inputs, scale[:, None] * latest.weight, bias, self.num_linear - 1
        )

    def add(self, first: Any, second: Any, *, alpha: float = 1) -> Tensor:
        """Add two activations, or a constant, which is a bias."""
        if _needs_gradient(first) and _needs_gradient(second):
            return first + alpha * second
        if _needs_gradient(first):
            return self._with_bias(first, alpha * second)
        return self._with_bias(alpha * second, first)

    def subtract(self, first: Any, second: Any) -> Tensor:
        """Subtract an activation or a constant."""
        return self.add(first, second, alpha=-1)

    def subtract_from(self, first: Any, second: Any) -> Tensor:
        """Subtract from an activation or a constant."""
        return self.add(second, first, alpha=-1)

    def normalize(
        self, input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Any = None
    ) -> Tensor:
        """Divide by a norm, which is held."""
        return input / self._hold_norm(input, p, dim, eps)

    def _gate(self, input: Tensor, slope: float) -> Tensor:
        raise NotImplementedError

    def _linear(self, input: Tensor, weight: Tensor, bias: Any, number: int) -> Tensor:
        raise NotImplementedError

    def _with_bias(self, activation: Tensor, bias: Any) -> Tensor:
        raise NotImplementedError

    def _hold_norm(self, input: Tensor, p: float, dim: int, eps: float) -> Tensor:
        raise NotImplementedError

    def _unhold(self) -> None:
        """Forget the latest linear map, which is merged with what follows."""


class _Recorder(_Interceptor):
    """Runs a model as it is, and appends what is to be held."""

    def __init__(self, rule: Rule | None, held: list[Tensor | None]) -> None:
        super().__init__(rule)
        self._held = held

    def count_message_layer(self, inputs: Tensor, edge_index: Tensor) -> Tensor:
        """Count a message-passing layer; its messages stay as they are."""
        self.num_layers += 1
        return inputs

    def _gate(self, input: Tensor, slope: float) -> Tensor:
        gate = torch.where(input > 0, 1.0, slope).to(input.dtype).detach()
        self.num_gates += 1
        self._held.append(gate)
        return input * gate

    def _linear(self, input: Tensor, weight: Tensor, bias: Any, number: int) -> Tensor:
        output = F.linear(input, weight, bias)
        if self._rule is not None:
            with torch.no_grad():
                mask = self._rule.mask(input)
                modified = _modified(self._rule, input, mask, weight, number)
                self._held += [mask, self._rule.ratio(output, modified, bias, number)]
        return output

    def _unhold(self) -> None:
        if self._rule is not None:
            self._held[-1] = None

    def _with_bias(self, activation: Tensor, bias: Any) -> Tensor:
        return activation + bias

    def _hold_norm(self, input: Tensor, p: float, dim: int, eps: float) -> Tensor:
        norm = input.detach().norm(p, dim, keepdim=True).clamp_min(eps)
        self._held.append(norm)
        return norm


class _Replayer(_Interceptor):
    """Runs a model with held values, on variables of its own."""

    def __init__(self, rule: Rule | None, held: list[Tensor | None], variables: Variables) -> None:
        super().__init__(rule)
        self._held = iter(held)
        self._variables = variables

    def weigh_messages(self, inputs: Tensor, edge_index: Tensor) -> Tensor:
        """Multiply the messages of a layer by a variable each."""
        weight = inputs.new_full((inputs.size(0),), self._variables.scale).requires_grad_()
        self._variables.messages.append((weight, edge_index))
        return inputs * weight.view(-1, *[1] * (inputs.dim() - 1))

    def _gate(self, input: Tensor, slope: float) -> Tensor:
        gate = (self._next() * self._variables.scale).requires_grad_()
        self._variables.gates.append((gate, len(self._variables.messages)))
        return input * gate

    def _linear(self, input: Tensor, weight: Tensor, bias: Any, number: int) -> Tensor:
        if self._rule is None:
            return F.linear(input, weight, bias if self._variables.biases else None)
        mask, ratio = next(self._held), next(self._held)
        output = _modified(self._rule, input, mask, weight, number)
        return output if ratio is None else output * ratio

    def _with_bias(self, activation: Tensor, bias: Any) -> Tensor:
        return activation + bias if self._variables.biases else activation

    def _hold_norm(self, input: Tensor, p: float, dim: int, eps: float) -> Tensor:
        return self._next()

    def _next(self) -> Tensor:
        held = next(self._held)
        assert held is not None
        return held


def _modified(
    rule: Rule, input: Tensor, mask: Tensor | None, weight: Tensor, number: int
) -> Tensor:
    """Return W̃ a for the inputs that carry relevance."""
    return F.linear(input if mask is None else input * mask, rule.weight(weight, number))


def _needs_gradient(value: Any) -> bool:
    return isinstance(value, Tensor) and value.requires_grad


def _activations(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Tensor]:
    values = [*args, *kwargs.values()]
    flat = [item for v in values for item in (v if isinstance(v, (list, tuple)) else [v])]
    return [value for value in flat if _needs_gradient(value)]


_PASSED = {
    *(*ops.SHAPES, *ops.LINEAR, *ops.DIVISIONS, *ops.JOINS, *ops.SCATTER_ADDS, *ops.INDEX_ADDS),
}

_RULES: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(ops.RELUS, _Interceptor.relu),
    **dict.fromkeys(ops.ADDITIONS, _Interceptor.add),
    **dict.fromkeys(ops.SUBTRACTIONS, _Interceptor.subtract),
    **dict.fromkeys(ops.REVERSED_SUBTRACTIONS, _Interceptor.subtract_from),
    **dict.fromkeys(ops.CLOSING, _Interceptor.close),
    "leaky_relu": _Interceptor.leaky_relu,
    "dropout": _Interceptor.dropout,
    "linear": _Interceptor.linear,
    "batch_norm": _Interceptor.batch_norm,
    "normalize": _Interceptor.normalize,
}
