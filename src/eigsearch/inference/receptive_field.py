"""The receptive field of a model: how many hops around a node it sees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch
from torch_geometric.nn import MessagePassing

from eigsearch.inputs.computation_graph import WHOLE_GRAPH, ReceptiveField

_EXTRA_HOPS = 3  # hops to add before the whole graph is used
# Layers that divide by the degree of the *source* of a message: there an edge matters one hop
# before its message does, because it changes that degree.
_DEGREE_LAYERS = {
    "APPNP", "ARMAConv", "ChebConv", "FAConv", "GCN2Conv", "GCNConv", "LGConv", "MixHopConv",
    "SGConv", "SSGConv", "TAGConv", "LabelPropagation", "AntiSymmetricConv", "DNAConv",
}  # fmt: skip
# Layers that divide by out-degrees: on a directed graph the edges that leave a node matter as well,
# though no message runs along them towards the explained node.
_OUT_DEGREE_LAYERS = {"ChebConv"}
# Layers that keep the best of all nodes, or average over them: any edge of the graph may matter.
_GLOBAL_LAYERS = {"ClusterPooling", "EdgePooling", "HANConv", "MemPooling", "SelectTopK"}


def expected_field(
    model: Any, calls: Mapping[MessagePassing, int], typed: bool = False
) -> ReceptiveField:
    """Return the receptive field implied by a model's layers and how often they are called.

    In models of typed graphs, layers in a dict by type pass messages in parallel.
    """
    hops = count_hops(model, calls, typed)
    if hops is None:
        return WHOLE_GRAPH
    return ReceptiveField(hops, uses_out_degrees(model), message_flow(model))


def wider_fields(field: ReceptiveField) -> Iterator[ReceptiveField]:
    """Yield a receptive field and wider ones, the whole graph last.

    A model may see more than its layers say; the caller compares outputs and stops at the first
    field that gives those of the whole graph.
    """
    if field.hops is not None:
        yield field
        if not field.out_edges:
            yield (field := replace(field, out_edges=True))
        for extra in range(1, _EXTRA_HOPS + 1):
            assert field.hops is not None
            yield replace(field, hops=field.hops + extra)
    yield WHOLE_GRAPH


def count_hops(
    model: Any, calls: Mapping[MessagePassing, int] | None = None, typed: bool = False
) -> int | None:
    """Return the number of hops within which an edge can change the output of a node.

    Args:
        model: The model.
        calls: How often each layer was called; once where a layer is missing.
        typed: Whether layers in one `ModuleDict` are for different types, and so one hop.

    Returns:
        The number of hops; None where any edge may matter, because the model has no message
        passing layer, layers of both flows, or a layer that chooses among all nodes or averages
        over them.
    """
    layers, calls = _layers(model), calls or {}
    if len({layer.flow for layer in layers}) != 1:
        return None
    if any(type(module).__name__ in _GLOBAL_LAYERS for module in _modules(model)):
        return None
    by_degree = any(_uses_source_degree(layer) for layer in layers)
    hops = {layer: _layer_hops(layer) * calls.get(layer, 1) for layer in layers}
    if typed:
        hops = _side_by_side(model, hops)
    return sum(hops.values()) + by_degree


def _side_by_side(model: Any, hops: dict[MessagePassing, int]) -> dict[MessagePassing, int]:
    """Return the hops of all layers; of those in one `ModuleDict` only the maximum counts."""
    left = dict(hops)
    for module in _modules(model):
        if isinstance(module, torch.nn.ModuleDict):
            beside = sorted(
                (each for each in module.values() if each in left), key=left.__getitem__
            )
            for layer in beside[:-1]:
                del left[layer]
    return left


@contextmanager
def counted_calls(model: Any) -> Iterator[Counter[MessagePassing]]:
    """Count in a block how often each layer of a model is called."""
    calls: Counter[MessagePassing] = Counter()
    hooks = [
        layer.register_forward_pre_hook(lambda own, _: calls.update([own]))
        for layer in _layers(model)
    ]
    try:
        yield calls
    finally:
        for hook in hooks:
            hook.remove()


def message_flow(model: Any) -> str:
    """Return the direction in which the model passes messages."""
    for module in _modules(model):
        if isinstance(module, MessagePassing):
            return module.flow
    return "source_to_target"


def uses_out_degrees(model: Any) -> bool:
    """Return whether the model has a layer that divides by out-degrees."""
    return any(type(module).__name__ in _OUT_DEGREE_LAYERS for module in _modules(model))


def _modules(model: Any) -> list[torch.nn.Module]:
    return list(model.modules()) if isinstance(model, torch.nn.Module) else []


def _layers(model: Any) -> list[MessagePassing]:
    """Return the layers of a model that pass messages, without those that are part of another."""
    layers = [module for module in _modules(model) if isinstance(module, MessagePassing)]
    return [layer for layer in layers if not _inside_another(layer, layers)]


def _inside_another(layer: MessagePassing, layers: list[MessagePassing]) -> bool:
    return any(layer is not other and any(layer is m for m in other.modules()) for other in layers)


def _layer_hops(layer: MessagePassing) -> int:
    if type(layer).__name__ == "ChebConv":
        return max(len(layer.lins) - 1, 1)
    hops = getattr(layer, "K", None) or getattr(layer, "num_layers", None) or 1
    return hops if isinstance(hops, int) else 1


def _uses_source_degree(layer: MessagePassing) -> bool:
    return type(layer).__name__ in _DEGREE_LAYERS and getattr(layer, "normalize", True) is not False
