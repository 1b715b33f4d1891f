"""Contextual decomposition: tensors that carry a part γ and the rest β through a model.

A `Pair` is a tensor h = γ + β. Handed to a model in the position of its features, it answers each
operation of torch with the pair of its result; so layers are decomposed by what they do, and not
by their names. The rules, with "bias" for anything that does not depend on the features:

- linear maps and aggregation apply to both parts; a bias is split in the ratio |γ'| : |β'|;
- an activation σ gives γ' = σ(γ) and β' = σ(γ + β) − σ(γ);
- a maximum takes both parts where the joint maximum is;
- batch normalisation in evaluation mode is a linear map with a bias.

An operation without a rule raises `NoRule`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from eigsearch.explainers.decomposition import operations as ops
from eigsearch.explainers.decomposition.operations import NoRule


class Pair(Tensor):
    """A tensor in two parts: γ, what is attributed to a group of nodes, and β, the rest.

    `final` marks the result of a closing softmax or sigmoid. It stands for the scores that went
    in, which are what is attributed, and nothing but its shape may change.
    """

    total: Tensor
    gamma: Tensor
    beta: Tensor
    final: bool

    @staticmethod
    def of(gamma: Tensor, beta: Tensor, final: bool = False) -> Pair:
        """Return γ + β as a tensor that remembers its parts."""
        total = gamma + beta
        pair = total.as_subclass(Pair)
        pair.total, pair.gamma, pair.beta, pair.final = total, gamma, beta, final
        return pair

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Answer an operation by its rule."""
        name, kwargs = getattr(func, "__name__", str(func)), kwargs or {}
        if name in ops.QUERIES:
            return func(*map(_total, args), **kwargs)
        closed = any(isinstance(a, Pair) and a.final for a in args)
        if name not in _RULES or (closed and name not in ops.SHAPES):
            raise NoRule(name)
        return _RULES[name](func, *args, **kwargs)


def _total(value: Any) -> Any:
    return value.total if isinstance(value, Pair) else value


def _gamma(value: Any) -> Any:
    return value.gamma if isinstance(value, Pair) else value


def _beta(value: Any) -> Any:
    return value.beta if isinstance(value, Pair) else value


def _on_both(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Apply an operation that is linear in its one pair."""
    pairs = [value for value in args if isinstance(value, Pair)]
    if len(pairs) > 1:
        raise NoRule(f"{func.__name__} of two activations")
    gamma, beta = func(*map(_gamma, args), **kwargs), func(*map(_beta, args), **kwargs)
    return Pair.of(gamma, beta, pairs[0].final)


def _shape(func: Callable[..., Any], first: Any, *args: Any, **kwargs: Any) -> Any:
    """Apply an operation on shapes; in `plain.expand_as(pair)` the pair only lends its shape."""
    if not isinstance(first, Pair):
        return func(first, *map(_total, args), **kwargs)
    return _on_both(func, first, *map(_total, args), **kwargs)


def _divide(func: Callable[..., Any], value: Any, divisor: Any, **kwargs: Any) -> Pair:
    if isinstance(divisor, Pair):
        raise NoRule("division by an activation")
    return _on_both(func, value, divisor, **kwargs)


def _add(func: Callable[..., Any], first: Any, second: Any) -> Pair:
    if isinstance(first, Pair) and isinstance(second, Pair):
        return Pair.of(first.gamma + second.gamma, first.beta + second.beta)
    pair, bias = (first, second) if isinstance(first, Pair) else (second, first)
    return _with_bias(pair.gamma, pair.beta, bias)


def _subtract(func: Callable[..., Any], first: Any, second: Any) -> Pair:
    return _add(func, first, -second)


def _subtract_from(func: Callable[..., Any], first: Any, second: Any) -> Pair:
    return _add(func, -first, second)


def _with_bias(gamma: Tensor, beta: Tensor, bias: Any) -> Pair:
    """Split a bias in the ratio |γ| : |β|; where both are zero, the rest takes it all."""
    size = gamma.abs() + beta.abs()
    share = torch.where(size > 0, gamma.abs() / size.clamp_min(torch.finfo(size.dtype).tiny), 0.0)
    part = share * bias
    return Pair.of(gamma + part, beta + (bias - part))


def _linear(
    func: Callable[..., Any], input: Any, weight: Tensor, bias: Tensor | None = None
) -> Pair:
    if isinstance(weight, Pair) or isinstance(bias, Pair):
        raise NoRule("a linear map whose weights are activations")
    gamma, beta = F.linear(input.gamma, weight), F.linear(input.beta, weight)
    return Pair.of(gamma, beta) if bias is None else _with_bias(gamma, beta, bias)


def _batch_norm(
    func: Callable[..., Any],
    input: Pair,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Pair:
    if training or running_mean is None or running_var is None or input.dim() != 2:
        raise NoRule("batch normalisation by the statistics of a batch")
    scale = (running_var + eps).rsqrt() * (1.0 if weight is None else weight)
    shift = (0.0 if bias is None else bias) - running_mean * scale
    return _with_bias(input.gamma * scale, input.beta * scale, shift)


def _activation(sigma: Callable[..., Tensor]) -> Callable[..., Pair]:
    def rule(func: Callable[..., Any], input: Pair, *args: Any, **kwargs: Any) -> Pair:
        kwargs.pop("inplace", None)  # the parts are kept
        gamma = sigma(input.gamma, *args, **kwargs)
        return Pair.of(gamma, sigma(input.total, *args, **kwargs) - gamma)

    return rule


def _relu(func: Callable[..., Any], input: Pair, inplace: bool = False) -> Pair:
    return _activation(torch.relu)(func, input)


def _dropout(
    func: Callable[..., Any], input: Pair, p: float = 0.5, training: bool = True, **kwargs: Any
) -> Pair:
    if training and p > 0:
        raise NoRule("dropout in training mode")
    return input


def _join(func: Callable[..., Any], tensors: Any, *args: Any, **kwargs: Any) -> Pair:
    """Concatenate; a part that does not depend on the features belongs to the rest."""
    gamma = [t.gamma if isinstance(t, Pair) else torch.zeros_like(t) for t in tensors]
    beta = [t.beta if isinstance(t, Pair) else t for t in tensors]
    return Pair.of(func(gamma, *args, **kwargs), func(beta, *args, **kwargs))


def _scatter_add(
    func: Callable[..., Any], into: Tensor, dim: int, index: Tensor, source: Pair
) -> Pair:
    """Add messages up; what they are added to belongs to the rest, and is zero in practice."""
    if isinstance(into, Pair):
        raise NoRule("scatter_add into an activation")
    gamma = torch.zeros_like(into).scatter_add(dim, index, source.gamma)
    return Pair.of(gamma, into.scatter_add(dim, index, source.beta))


def _index_add(
    func: Callable[..., Any], into: Tensor, dim: int, index: Tensor, source: Pair
) -> Pair:
    if isinstance(into, Pair):
        raise NoRule("index_add into an activation")
    gamma = torch.zeros_like(into).index_add(dim, index, source.gamma)
    return Pair.of(gamma, into.index_add(dim, index, source.beta))


def _scatter_reduce(
    func: Callable[..., Any],
    into: Tensor,
    dim: int,
    index: Tensor,
    src: Pair,
    reduce: str,
    *,
    include_self: bool = True,
) -> Pair:
    """Take both parts of the first entry that is the maximum; zero where there is no entry."""
    if reduce != "amax" or include_self or isinstance(into, Pair):
        raise NoRule(f"scatter_reduce by {reduce}")
    top = into.scatter_reduce(dim, index, src.total, "amax", include_self=False)
    count = src.total.size(dim)
    shape = [-1 if d == dim % index.dim() else 1 for d in range(index.dim())]
    position = torch.arange(count, device=index.device).view(shape).expand_as(index)
    position = torch.where(src.total == top.gather(dim, index), position, count)
    first = torch.full_like(top, count, dtype=torch.long)
    first = first.scatter_reduce(dim, index, position, "amin")
    empty, first = first == count, first.clamp_max(max(count - 1, 0))
    gamma, beta = (part.gather(dim, first) for part in (src.gamma, src.beta))
    return Pair.of(torch.where(empty, 0.0, gamma), torch.where(empty, 0.0, beta))


def _maximum(
    func: Callable[..., Any], input: Pair, dim: int | None = None, keepdim: bool = False
) -> tuple[Pair, Tensor]:
    if not isinstance(dim, int):
        raise NoRule("max of two activations")
    where = input.total.argmax(dim, keepdim=True)
    gamma, beta = input.gamma.gather(dim, where), input.beta.gather(dim, where)
    if not keepdim:
        gamma, beta, where = gamma.squeeze(dim), beta.squeeze(dim), where.squeeze(dim)
    return Pair.of(gamma, beta), where


def _closing(func: Callable[..., Any], input: Pair, *args: Any, **kwargs: Any) -> Pair:
    """Pass over a softmax or sigmoid that ends a model: its scores are what is attributed."""
    return Pair.of(input.gamma, input.beta, final=True)


_RULES: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(ops.SHAPES, _shape),
    **dict.fromkeys(ops.LINEAR, _on_both),
    **dict.fromkeys(ops.DIVISIONS, _divide),
    **dict.fromkeys(ops.ADDITIONS, _add),
    **dict.fromkeys(ops.SUBTRACTIONS, _subtract),
    **dict.fromkeys(ops.REVERSED_SUBTRACTIONS, _subtract_from),
    **dict.fromkeys(ops.RELUS, _relu),
    "leaky_relu": _activation(F.leaky_relu),
    "elu": _activation(F.elu),
    "tanh": _activation(torch.tanh),
    "linear": _linear,
    "batch_norm": _batch_norm,
    "dropout": _dropout,
    **dict.fromkeys(ops.JOINS, _join),
    **dict.fromkeys(ops.SCATTER_ADDS, _scatter_add),
    **dict.fromkeys(ops.INDEX_ADDS, _index_add),
    **dict.fromkeys(ops.SCATTER_REDUCES, _scatter_reduce),
    "max": _maximum,
    **dict.fromkeys(ops.CLOSING, _closing),
}
