"""Forwards as users write them: caches, states, transformers, graphs built on the way."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric import nn as pyg
from torch_geometric.data import Batch
from torch_geometric.utils import (
    coalesce,
    degree,
    dropout_edge,
    subgraph,
    to_dense_adj,
    to_dense_batch,
    to_undirected,
)

from tests.nets import FEATURES

WIDTH = 6
OF_SHAPE: dict[Any, Tensor] = {}  # what a careless user keeps for graphs of one shape
OF_FIRST: dict[str, Any] = {"centre": None, "calls": 0}  # or of the first graph
CENTRE: Tensor | None = None
ROUTINES: dict[str, Callable[..., Tensor]] = {}  # forwards of single attributes
OF_OBJECTS: dict[str, Callable[..., Tensor]] = {}  # and of `data`


class Holder:
    """An object of the user's beside the model."""

    centre: Tensor | None = None


class Slotted:
    """Another one, without a dict."""

    __slots__ = ("centre",)

    def __init__(self) -> None:
        self.centre: Tensor | None = None


def make_centring() -> Callable[[Tensor], Tensor]:
    """Return a function that subtracts what it keeps in a variable around it."""
    centre: Tensor | None = None

    def centring(x: Tensor) -> Tensor:
        nonlocal centre
        if centre is None:
            centre = x.mean(dim=0)
        return x - centre

    return centring


def centred(x: Tensor) -> Tensor:
    """Subtract what is kept as an attribute of this function."""
    return x - vars(centred).setdefault("centre", x.mean(dim=0))


class UserModel(nn.Module):
    """Two layers and a head; a routine, chosen by its name, puts them together."""

    of_class: dict[Any, Tensor] = {}  # noqa: RUF012

    def __init__(self, routine: str) -> None:
        super().__init__()
        torch.manual_seed(3)
        inside = nn.Sequential(nn.Linear(FEATURES, WIDTH), nn.Tanh(), nn.Linear(WIDTH, WIDTH))
        self.first, self.second = pyg.GINConv(inside), pyg.GCNConv(WIDTH, WIDTH)
        self.head, self.place = nn.Linear(WIDTH, 3), nn.Linear(3, WIDTH)
        self.attention = nn.MultiheadAttention(WIDTH, 2, batch_first=True)
        self.top, self.sag = pyg.TopKPooling(WIDTH, 0.5), pyg.SAGPooling(WIDTH, 0.6)
        self.routine = (ROUTINES | OF_OBJECTS)[routine]
        self.kept: dict[Any, Tensor] = {}
        self.box: list[Any] = [None]
        self.log: list[Any] = []
        self.nested: dict[str, dict[str, Tensor]] = {"inner": {}}
        self.holder, self.slotted = Holder(), Slotted()
        self.recent: deque[Tensor] = deque(maxlen=2)
        self.pair: tuple[str, dict[str, Tensor]] = ("centre", {})
        self.centring = make_centring()
        self.register_buffer("centre", torch.zeros(FEATURES))
        self.last: Any = None
        self.register_buffer("calls", torch.zeros(()))
        self.double().eval()

    def encode(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.second(self.first(x, edge_index).tanh(), edge_index).tanh()

    def read_out(self, h: Tensor, batch: Tensor | None) -> Tensor:
        return self.head(pyg.global_add_pool(h, batch))


def vars_around(function: Any) -> bool:
    """Return whether a variable around a function holds anything."""
    return any(cell.cell_contents is not None for cell in function.__closure__)


def nothing_is_kept(model: UserModel) -> bool:
    """Return whether a model is as if it never was called."""
    outside = OF_SHAPE or UserModel.of_class or OF_FIRST["calls"] or vars(centred)
    inside = model.kept or model.nested["inner"] or vars(model.holder) or bool(model.centre.any())
    singles = [OF_FIRST["centre"], CENTRE, model.last, model.box[0], model.slotted.centre]
    others = bool(model.recent or model.pair[1]) or vars_around(model.centring)
    logged = any(isinstance(item, Tensor) for item in model.log)
    return (
        not outside
        and not inside
        and not others
        and not logged
        and all(one is None for one in singles)
    )


def forget() -> None:
    """Forget what models keep outside of themselves."""
    global CENTRE
    OF_SHAPE.clear()
    UserModel.of_class.clear()
    OF_FIRST.update(centre=None, calls=0)
    CENTRE = None
    vars(centred).clear()


class OfArguments(UserModel):
    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return self.routine(self, x, edge_index, batch)


class OfObject(UserModel):
    def forward(self, data: Batch) -> Tensor:
        return self.routine(self, data)


def routine(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    of_object = function.__code__.co_argcount == 2
    (OF_OBJECTS if of_object else ROUTINES)[function.__name__] = function
    return function


def _kept_degree(kept: dict[Any, Tensor], key: Any, x: Tensor, edge_index: Tensor) -> Tensor:
    if key not in kept or len(kept[key]) != len(x):
        kept[key] = degree(edge_index[0], len(x), dtype=x.dtype)
    return kept[key][:, None]


@routine
def kept_by_identity(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    scale = _kept_degree(m.kept, id(edge_index), x, edge_index)
    return m.read_out(m.encode(x, edge_index) * scale, batch)


@routine
def kept_by_address(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    scale = _kept_degree(m.kept, (edge_index.data_ptr(), edge_index.shape), x, edge_index)
    return m.read_out(m.encode(x, edge_index) * scale, batch)


@routine
def kept_by_shape(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    scale = _kept_degree(m.kept, (edge_index.shape, len(x)), x, edge_index)
    return m.read_out(m.encode(x, edge_index) * scale, batch)


@routine
def kept_in_the_class(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    scale = _kept_degree(type(m).of_class, (edge_index.shape, len(x)), x, edge_index)
    return m.read_out(m.encode(x, edge_index) * scale, batch)


@routine
def kept_globally(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    scale = _kept_degree(OF_SHAPE, (edge_index.shape, len(x)), x, edge_index)
    return m.read_out(m.encode(x, edge_index) * scale, batch)


@routine
def kept_of_the_first(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    OF_FIRST["calls"] += 1
    if OF_FIRST["centre"] is None:
        OF_FIRST["centre"] = x.mean(dim=0)
    return m.read_out(m.encode(x - OF_FIRST["centre"], edge_index), batch)


@routine
def kept_in_a_variable(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    global CENTRE
    if CENTRE is None:
        CENTRE = x.mean(dim=0)
    return m.read_out(m.encode(x - CENTRE, edge_index), batch)


@routine
def kept_in_an_object(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    if m.holder.centre is None:
        m.holder.centre = x.mean(dim=0)
    return m.read_out(m.encode(x - m.holder.centre, edge_index), batch)


@routine
def kept_in_a_list(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    if m.box[0] is None:
        m.box[0] = x.mean(dim=0)
    return m.read_out(m.encode(x - m.box[0], edge_index), batch)


@routine
def kept_in_a_growing_list(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    if not m.log:
        m.log.append(x.mean(dim=0))
    return m.read_out(m.encode(x - m.log[0], edge_index), batch)


@routine
def kept_in_a_nested_dict(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    centre = m.nested["inner"].setdefault("centre", x.mean(dim=0))
    return m.read_out(m.encode(x - centre, edge_index), batch)


@routine
def kept_in_a_deque(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    m.recent.append(x.mean(dim=0))
    return m.read_out(m.encode(x - m.recent[0], edge_index), batch)


@routine
def kept_in_a_dict_of_a_tuple(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    centre = m.pair[1].setdefault(m.pair[0], x.mean(dim=0))
    return m.read_out(m.encode(x - centre, edge_index), batch)


@routine
def kept_in_a_closure(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    return m.read_out(m.encode(m.centring(x), edge_index), batch)


@routine
def kept_in_slots(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    if m.slotted.centre is None:
        m.slotted.centre = x.mean(dim=0)
    return m.read_out(m.encode(x - m.slotted.centre, edge_index), batch)


@routine
def kept_in_a_function(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    return m.read_out(m.encode(centred(x), edge_index), batch)


@routine
def kept_in_a_buffer(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    if not m.centre.any():
        m.centre.copy_(x.mean(dim=0))
    return m.read_out(m.encode(x - m.centre, edge_index), batch)


@routine
def running_mean_in_place(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    m.centre.mul_(0.9).add_(0.1 * x.mean(dim=0))
    return m.read_out(m.encode(x - m.centre, edge_index), batch)


@routine
def counts_calls(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    m.calls += 1
    return m.read_out(m.encode(x, edge_index), batch)


@routine
def adds_the_last(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    h = m.encode(x, edge_index)
    out = m.read_out(h, batch) + (0 if m.last is None else m.last.mean())
    m.last = h
    return out


@routine
def without_gradients(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    with torch.no_grad():
        return m.read_out(m.encode(x, edge_index), batch)


@routine
def with_gradients(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    with torch.enable_grad():
        x = x.detach().requires_grad_()
        (grad,) = torch.autograd.grad(m.read_out(m.encode(x, edge_index), batch).sum(), x)
    return m.read_out(m.encode(x, edge_index), batch) + pyg.global_add_pool(grad, batch)[:, :3]


@routine
def sorted_edges(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    order = (edge_index[0] * len(x) + edge_index[1]).argsort()
    return m.read_out(m.encode(x, edge_index[:, order]), batch)


@routine
def made_undirected(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    return m.read_out(m.encode(x, to_undirected(coalesce(edge_index))), batch)


@routine
def random_walks(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    step = x.new_zeros(len(x), len(x))
    step[edge_index[0], edge_index[1]] = 1
    step = step / step.sum(dim=1, keepdim=True).clamp(min=1)
    walks = torch.stack([step.diagonal(), (step @ step).diagonal(), step.sum(dim=0)], dim=1)
    return m.read_out(m.encode(x, edge_index) + m.place(walks), batch)


@routine
def virtual_nodes(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    graphs, nodes = int(batch.max()) + 1, torch.arange(len(x))
    hub = len(x) + batch
    both = torch.cat([edge_index, torch.stack([nodes, hub]), torch.stack([hub, nodes])], dim=1)
    h = m.encode(torch.cat([x, x.new_zeros(graphs, x.size(1))]), both)
    return m.head(h[len(x) :])


@routine
def transformer(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    dense, mask = to_dense_batch(m.encode(x, edge_index), batch)
    h, _ = m.attention(dense, dense, dense, key_padding_mask=~mask)
    return m.read_out(h[mask], batch)


@routine
def padded_mean(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    dense, _ = to_dense_batch(m.encode(x, edge_index) + 1, batch)
    return m.head(dense.mean(dim=1))


@routine
def attention_over_all(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    h = m.encode(x, edge_index)
    return m.read_out((h @ h.t()).softmax(dim=-1) @ h, batch)


@routine
def nearest_neighbours(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    far = (
        torch.cdist(x[:, :2], x[:, :2]) + 1e6 * (batch[:, None] != batch) + 1e9 * torch.eye(len(x))
    )
    value, source = far.topk(min(2, len(x)), largest=False)
    near, target = value < 1e5, torch.arange(len(x))[:, None].expand_as(source)
    h = m.encode(x, torch.stack([source[near], target[near]]))
    return m.read_out(h + m.encode(x, edge_index), batch)


@routine
def best_half(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    h, _, _, batch, _, _ = m.top(m.encode(x, edge_index), edge_index, batch=batch)
    return m.read_out(h, batch)


@routine
def self_attention_pool(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    h, _, _, batch, _, _ = m.sag(m.encode(x, edge_index), edge_index, batch=batch)
    return m.read_out(h, batch)


@routine
def edge_dropout(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    kept, _ = dropout_edge(edge_index, p=0.5, training=m.training)
    return m.read_out(m.encode(x, kept), batch)


@routine
def fixed_noise(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn(x.shape, generator=generator, dtype=x.dtype)
    return m.read_out(m.encode(x + 0.3 * noise, edge_index), batch)


@routine
def in_place(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    x *= 2
    x += 1
    return m.read_out(m.encode(x, edge_index), batch)


@routine
def branch_over_size(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    return m.read_out(m.encode(x, edge_index), batch) * (1.0 if len(x) > 5 else 0.5)


@routine
def numpy_inside(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    degrees = np.bincount(edge_index[0].numpy(), minlength=len(x))
    return m.read_out(m.encode(x, edge_index) * torch.from_numpy(degrees)[:, None], batch)


@routine
def networkx_inside(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    graph = nx.Graph(edge_index.t().tolist())
    graph.add_nodes_from(range(len(x)))
    share = nx.clustering(graph)
    column = torch.tensor([share[node] for node in range(len(x))], dtype=x.dtype)
    return m.read_out(m.encode(x, edge_index) + column[:, None], batch)


@routine
def graph_by_graph(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    rows = []
    for number in range(int(batch.max()) + 1):
        mask = batch == number
        inside, _ = subgraph(mask, edge_index, relabel_nodes=True, num_nodes=len(x))
        rows.append(m.read_out(m.encode(x[mask], inside), None))
    return torch.cat(rows)


@routine
def two_steps_at_once(m: Any, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    adjacency = x.new_zeros(len(x), len(x))
    adjacency[edge_index[0], edge_index[1]] = 1
    return m.read_out((adjacency @ adjacency @ m.first(x, edge_index)).tanh(), batch)


@routine
def by_number_of_nodes(m: Any, data: Batch) -> Tensor:
    return m.read_out(m.encode(data.x, data.edge_index), data.batch) / data.num_nodes * 9


@routine
def by_ptr(m: Any, data: Batch) -> Tensor:
    h, ends = m.encode(data.x, data.edge_index), data.ptr.tolist()
    return m.head(torch.stack([h[a:b].sum(dim=0) for a, b in pairwise(ends)]))


@routine
def list_of_graphs(m: Any, data: Batch) -> Tensor:
    graphs = data.to_data_list()
    return torch.cat([m.read_out(m.encode(g.x, g.edge_index), None) for g in graphs])


@routine
def laplacian_spectrum(m: Any, data: Batch) -> Tensor:
    rows = []
    for graph in data.to_data_list():
        adjacency = to_dense_adj(graph.edge_index, max_num_nodes=graph.num_nodes)[0].double()
        values = torch.linalg.eigvalsh(torch.diag(adjacency.sum(dim=1)) - adjacency)
        place = m.place(torch.stack([values.sum(), (values**2).sum(), values.max()]) / 10)
        rows.append(m.read_out(m.encode(graph.x, graph.edge_index) + place, None))
    return torch.cat(rows)


@routine
def changes_the_object(m: Any, data: Batch) -> Tensor:
    data.x = data.x * 2
    return m.read_out(m.encode(data.x, data.edge_index), data.batch)


@routine
def as_a_dict(m: Any, data: Batch) -> Tensor:
    values = data.to_dict()
    return m.read_out(m.encode(values["x"], values["edge_index"]), values["batch"])
