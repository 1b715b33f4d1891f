"""Message-passing layers over distinct rows: the messages of each row once, nothing else.

A layer becomes a bipartite call from the rows of the layer below to its own rows. Layers that sum
weighted neighbours run as one fused gather-and-sum; the others run their own code on that
bipartite graph. The user's modules are never changed: what needs another setting is a shallow copy
that shares the parameters.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import embedding_bag
from torch_geometric import nn as pyg
from torch_geometric.nn import aggr

from eigsearch.engines.incremental.context import Scene, State, Unservable
from eigsearch.engines.incremental.index.ragged import Array
from eigsearch.engines.incremental.index.state_table import Table
from eigsearch.engines.incremental.messages import Step

_EDGE_INPUTS = ("edge_weight", "edge_attr", "edge_type")
_AGGREGATIONS = {"add": "sum", "sum": "sum", "mean": "mean", "max": "max"}
# Layers whose output at a node depends on its own state and its incoming messages alone.
_BIPARTITE = (
    pyg.CGConv, pyg.EdgeConv, pyg.FeaStConv, pyg.FiLMConv, pyg.GATConv, pyg.GATv2Conv, pyg.GENConv,
    pyg.GeneralConv, pyg.GINEConv, pyg.GMMConv, pyg.LEConv, pyg.MFConv, pyg.NNConv,
    pyg.ResGatedGraphConv, pyg.RGCNConv, pyg.TransformerConv,
)  # fmt: skip
_HOMOGENEOUS = (pyg.PNAConv,)
_FUSED = (pyg.SAGEConv, pyg.GraphConv)
# Aggregations for which messages are a multiset, as they are for colours. An LSTM, or an MLP over
# all of them, minds their order.
_UNORDERED = (
    aggr.MaxAggregation, aggr.MeanAggregation, aggr.MedianAggregation, aggr.MinAggregation,
    aggr.MulAggregation, aggr.PowerMeanAggregation, aggr.QuantileAggregation,
    aggr.SoftmaxAggregation, aggr.StdAggregation, aggr.SumAggregation, aggr.VarAggregation,
)  # fmt: skip


def run_layer(scene: Scene, layer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> State:
    """Return the states that a message-passing layer gives."""
    call = _signature(type(layer).forward).bind(layer, *args, **kwargs).arguments
    del call["self"]
    state = call["x"]
    edge_inputs = {k: call[k] for k in _EDGE_INPUTS if call.get(k) is not None}
    unknown = set(call) - {"x", "edge_index", *edge_inputs}
    if layer.flow != "source_to_target":
        raise Unservable(f"{type(layer).__name__} passes messages backwards.")
    if not _is_unordered(layer.aggr_module):
        raise Unservable(f"{type(layer).__name__} may mind the order of its messages.")
    if not isinstance(state, State) or any(call[name] is not None for name in unknown):
        raise Unservable(f"{type(layer).__name__} is called in a way that is not known.")
    by_degree = type(layer) is pyg.GCNConv and layer.normalize
    step = Step(scene, state, scene.next_table(state, by_degree), edge_inputs)
    value = _runner(layer)(step, layer)
    return State(step.table, step.place, value, state.depth + 1)


def _is_unordered(aggregation: Any) -> bool:
    """Tell whether an aggregation gives the same for messages in any order."""
    if type(aggregation) is aggr.MultiAggregation:
        return all(map(_is_unordered, aggregation.aggrs))
    if type(aggregation) is aggr.DegreeScalerAggregation:
        return _is_unordered(aggregation.aggr)
    return aggregation is None or type(aggregation) in _UNORDERED


@cache
def _signature(forward: Any) -> inspect.Signature:
    return inspect.signature(forward)


def _runner(layer: Any) -> Callable[[Step, Any], Tensor]:
    kind = type(layer)
    if kind is pyg.GCNConv:
        return _gcn
    if kind is pyg.GINConv:
        return _gin
    if kind in _FUSED and isinstance(layer.aggr, str) and layer.aggr in _AGGREGATIONS:
        return _fused
    if kind in _BIPARTITE:
        return _bipartite
    if kind in _HOMOGENEOUS:
        return _homogeneous
    raise Unservable(f"{kind.__name__} is not a layer that is known.")


def _gin(step: Step, layer: Any) -> Tensor:
    """GIN: the node itself is one more message, of weight 1 + ε."""
    if layer.aggr not in ("add", "sum"):
        return _bipartite(step, layer)
    step.unite()
    if layer.eps != 0:
        step.weigh(np.ones(len(step.row)), np.full(len(step.own), 1 + float(layer.eps)))
    rows, offsets, weight = step.bags_with_own()

    def propagate(edge_index: Tensor, x: tuple[Tensor, None], **_: Any) -> Tensor:
        return _bag(rows, x[0], offsets, "sum", weight)

    return _shallow(layer, propagate=propagate)((step.below.value, None), _no_edges(step))


def _fused(step: Step, layer: Any) -> Tensor:
    """GraphSAGE, GraphConv: the layer's own code around a fused gather-and-sum."""
    mode = _AGGREGATIONS[layer.aggr]
    if step.edge_inputs and mode != "sum":
        return _bipartite(step, layer)
    step.unite()
    weight = step.edge_values().get("edge_weight")
    rows, offsets = step.bags()

    def propagate(edge_index: Tensor, x: tuple[Tensor, Tensor], **_: Any) -> Tensor:
        return _bag(rows, x[0], offsets, mode, weight)

    fused = _shallow(layer, propagate=propagate)
    inputs = {} if weight is None else {"edge_weight": weight}
    return fused((step.below.value, step.own_value()), _no_edges(step), **inputs)


def _gcn(step: Step, layer: Any) -> Tensor:
    """GCN: D^-1/2 (A + I) D^-1/2 X W with the degrees of each moment."""
    weight = step.edge_inputs.get("edge_weight")
    self_weight = _self_weight(step, layer, weight)
    if self_weight:
        step.drop_self_loops()
    step.weigh(*_gcn_norm(step, layer, weight, self_weight))
    step.unite()
    rows, offsets, scale = step.bags_with_own()

    def propagate(edge_index: Tensor, x: Tensor, **_: Any) -> Tensor:
        return _bag(rows, x, offsets, "sum", scale)

    fused = _shallow(layer, propagate=propagate, normalize=False)
    return fused(step.below.value, _no_edges(step))


def _self_weight(step: Step, layer: Any, weight: Tensor | None) -> float:
    """Return the weight of the self-loop that the layer adds to each node, 0 for none."""
    if not (layer.normalize and layer.add_self_loops):
        return 0.0
    if weight is None:
        return 1.0  # PyG forgets `improved` where there are no weights
    lanes = step.scene.lanes
    if bool((lanes.source == lanes.target).any()):
        raise Unservable("GCNConv keeps the weights of the graph's own self-loops.")
    return 2.0 if layer.improved else 1.0


def _gcn_norm(
    step: Step, layer: Any, weight: Tensor | None, self_weight: float
) -> tuple[Array, Array]:
    """Return the coefficient of each message, and of each row's own value."""
    lanes = step.scene.lanes
    values = np.ones(len(lanes.edge)) if weight is None else _numpy(weight).take(lanes.edge)
    if not layer.normalize:
        return values.take(step.edge), np.zeros(len(step.table))
    moments = step.scene.degree_moments
    scale = _degree_scale(moments, values, self_weight)
    into, out = scale.take(moments.at(step.table.key)), scale.take(moments.at(step.sent))
    return out * values.take(step.edge) * into.take(step.row), self_weight * into * into


def _degree_scale(moments: Table, values: Array, self_weight: float) -> Array:
    """Return deg^-1/2 for each moment at which a degree changes."""
    lanes = moments.lanes
    edge, row, _ = moments.messages()
    if self_weight:
        other = np.flatnonzero(lanes.source.take(edge) != lanes.target.take(edge))
        edge, row = edge.take(other), row.take(other)
    degree = np.bincount(row, weights=values.take(edge), minlength=len(moments)) + self_weight
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = degree**-0.5
    return np.where(np.isinf(scale), 0.0, scale)


def _bipartite(step: Step, layer: Any) -> Tensor:
    """Run the layer's own code from the rows below to the rows above."""
    looped = getattr(layer, "add_self_loops", False)
    if looped:
        if step.edge_inputs:
            raise Unservable(f"{type(layer).__name__} fills in attributes for self-loops.")
        step.drop_self_loops()
        layer = _shallow(layer, add_self_loops=False)
    step.unite()
    edges = np.stack([step.source, step.row])
    if looped:
        edges = np.concatenate([edges, [step.own, np.arange(len(step.own))]], axis=1)
    inputs = (step.below.value, step.own_value())
    return layer(inputs, step.scene.tensor(edges), **step.edge_values())


def _homogeneous(step: Step, layer: Any) -> Tensor:
    """Run a layer that has no bipartite form on the rows below and above as one graph."""
    step.unite()
    below = len(step.below.value)
    edge_index = step.scene.tensor(np.stack([step.source, step.row + below]))
    both = torch.cat([step.below.value, step.own_value()])
    return layer(both, edge_index, **step.edge_values())[below:]


def _bag(rows: Tensor, x: Tensor, offsets: Tensor, mode: str, weight: Tensor | None) -> Tensor:
    """Return the sum, mean or maximum of the rows of each bag; zero for an empty one."""
    shape = x.shape
    flat = x.reshape(shape[0], -1)
    scaled = None if weight is None else weight.reshape(-1).to(flat.dtype)
    out = embedding_bag(
        rows, flat, offsets, mode=mode, per_sample_weights=scaled, include_last_offset=True
    )
    return out.reshape(-1, *shape[1:])


def _shallow(layer: Any, **settings: Any) -> Any:
    """Return a copy that shares the parameters and differs in the given settings."""
    other = object.__new__(type(layer))  # `copy.copy` would take longer than a small layer
    other.__dict__ = {**layer.__dict__, **settings}
    return other


def _no_edges(step: Step) -> Tensor:
    return torch.empty(2, 0, dtype=torch.long, device=step.scene.device)


def _numpy(value: Tensor) -> Array:
    return value.detach().reshape(-1).double().cpu().numpy()
