"""Random models: every layer that an engine knows, and some that only the batched one serves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from tests.nets import EDGE_FEATURES, FEATURES, RELATIONS
from tests.properties.odd_models import MIXERS, ByHand, Caching, PairLayer, SumLayer
from torch import Tensor, nn
from torch_geometric import nn as pyg
from torch_geometric.data import Data
from torch_geometric.utils import degree, to_dense_batch

from benchmarks.fuzz.dice import Dice
from benchmarks.fuzz.whole_models import ENDS_OF, ODD, OF_USERS, WHOLE

WIDTH = 8
Make = Callable[[Dice, int], nn.Module]


def _mlp(inputs: int) -> nn.Module:
    return nn.Sequential(nn.Linear(inputs, WIDTH), nn.Tanh(), nn.Linear(WIDTH, WIDTH))


def _gcn(dice: Dice, inputs: int) -> nn.Module:
    loops = dice.chance(0.8)
    normalize = loops or dice.chance(0.5)  # PyG adds no loops where it does not normalise
    improved, flow = dice.chance(0.2), _flow(dice)
    return pyg.GCNConv(
        inputs, WIDTH, improved=improved, normalize=normalize, add_self_loops=loops, flow=flow
    )


def _gin(dice: Dice, inputs: int) -> nn.Module:
    eps, aggr = dice.choice([0.0, 0.3, -1.0]), _aggr(dice)
    return pyg.GINConv(_mlp(inputs), eps=eps, train_eps=dice.chance(0.3), aggr=aggr)


def _sage(dice: Dice, inputs: int) -> nn.Module:
    normalize, project = dice.chance(0.2), dice.chance(0.2)
    return pyg.SAGEConv(inputs, WIDTH, _aggr(dice), normalize=normalize, project=project)


def _gat(dice: Dice, inputs: int) -> nn.Module:
    kind = dice.choice([pyg.GATConv, pyg.GATv2Conv])
    return kind(inputs, WIDTH // 2, heads=2, add_self_loops=dice.chance(0.7))


def _gat_with_edges(dice: Dice, inputs: int) -> nn.Module:
    kind = dice.choice([pyg.GATConv, pyg.GATv2Conv])
    loops, fill = dice.chance(0.5), dice.choice(["mean", 0.0])
    return kind(
        inputs, WIDTH, concat=False, heads=2, edge_dim=EDGE_FEATURES, add_self_loops=loops,
        fill_value=fill,
    )  # fmt: skip


def _transformer(dice: Dice, inputs: int) -> nn.Module:
    return pyg.TransformerConv(inputs, WIDTH, edge_dim=EDGE_FEATURES, beta=dice.chance(0.3))


def _pna(dice: Dice, inputs: int) -> nn.Module:
    aggregators = dice.some(["mean", "max", "min", "std", "sum"], 3)
    scalers = dice.some(["identity", "amplification", "attenuation", "linear"], 2)
    return pyg.PNAConv(inputs, WIDTH, aggregators, scalers, torch.tensor([1, 3, 4, 2, 1]))


def _rgcn(dice: Dice, inputs: int) -> nn.Module:
    bases = 2 if dice.chance(0.3) else None
    return pyg.RGCNConv(inputs, WIDTH, RELATIONS, num_bases=bases, aggr=_aggr(dice))


def _nn_conv(dice: Dice, inputs: int) -> nn.Module:
    return pyg.NNConv(inputs, WIDTH, nn.Linear(EDGE_FEATURES, inputs * WIDTH), aggr=_aggr(dice))


class OutDegree(pyg.MessagePassing):
    """A layer of a user's own: messages are shared out among the edges that leave a node."""

    def __init__(self, inputs: int) -> None:
        super().__init__(aggr="sum")
        self.lin = nn.Linear(inputs, WIDTH)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        share = degree(edge_index[0], len(x), dtype=x.dtype).clamp_min(1)
        return self.propagate(edge_index, x=self.lin(x) / share[:, None])


class Widened(nn.Module):
    """A layer that keeps its width, after one that brings it to that of the others."""

    def __init__(self, conv: nn.Module, inputs: int) -> None:
        super().__init__()
        self.lin = nn.Linear(inputs, WIDTH)
        self.conv = conv

    def forward(self, x: Tensor, edge_index: Tensor, **extra: Tensor) -> Tensor:
        return self.conv(self.lin(x), edge_index, **extra)


def _aggr(dice: Dice) -> str:
    return dice.weighted({"sum": 0.4, "mean": 0.4, "max": 0.2})


def _flow(dice: Dice) -> str:
    return "target_to_source" if dice.chance(0.05) else "source_to_target"


# Each layer, and the edge-level argument that it takes.
LAYERS: dict[str, tuple[Make, str | None]] = {
    "GCN": (_gcn, None),
    "GCN with weights": (_gcn, "edge_weight"),
    "GIN": (_gin, None),
    "GINE": (lambda d, i: pyg.GINEConv(_mlp(i), edge_dim=EDGE_FEATURES), "edge_attr"),
    "SAGE": (_sage, None),
    "GraphConv": (lambda d, i: pyg.GraphConv(i, WIDTH, aggr=_aggr(d)), None),
    "GraphConv with weights": (lambda d, i: pyg.GraphConv(i, WIDTH, aggr=_aggr(d)), "edge_weight"),
    "GAT": (_gat, None),
    "GAT with edges": (_gat_with_edges, "edge_attr"),
    "Transformer": (_transformer, "edge_attr"),
    "RGCN": (_rgcn, "edge_type"),
    "PNA": (_pna, None),
    "NNConv": (_nn_conv, "edge_attr"),
    "ResGated": (lambda d, i: pyg.ResGatedGraphConv(i, WIDTH), None),
    "ResGated with edges": (
        lambda d, i: pyg.ResGatedGraphConv(i, WIDTH, edge_dim=EDGE_FEATURES),
        "edge_attr",
    ),
    "LE": (lambda d, i: pyg.LEConv(i, WIDTH), "edge_weight"),
    "GEN": (lambda d, i: pyg.GENConv(i, WIDTH, edge_dim=EDGE_FEATURES), "edge_attr"),
    "Edge": (lambda d, i: pyg.EdgeConv(_mlp(2 * i), aggr=_aggr(d)), None),
    "FiLM": (lambda d, i: pyg.FiLMConv(i, WIDTH), None),
    "FeaSt": (lambda d, i: pyg.FeaStConv(i, WIDTH, heads=2), None),
    "MF": (lambda d, i: pyg.MFConv(i, WIDTH, max_degree=4), None),
    "CG": (lambda d, i: Widened(pyg.CGConv(WIDTH), i), None),
    # the others are known to the batched engine alone
    "SG": (lambda d, i: pyg.SGConv(i, WIDTH, K=2), None),
    "TAG": (lambda d, i: pyg.TAGConv(i, WIDTH, K=2), None),
    "Cheb": (lambda d, i: pyg.ChebConv(i, WIDTH, K=2), None),
    "SSG": (lambda d, i: pyg.SSGConv(i, WIDTH, alpha=0.1, K=2), None),
    "ARMA": (lambda d, i: pyg.ARMAConv(i, WIDTH), None),
    "APPNP": (lambda d, i: Widened(pyg.APPNP(K=2, alpha=0.1), i), None),
    "AGNN": (lambda d, i: Widened(pyg.AGNNConv(), i), None),
    "LG": (lambda d, i: Widened(pyg.LGConv(), i), None),
    "Gated": (lambda d, i: Widened(pyg.GatedGraphConv(WIDTH, 2), i), None),
    "Cluster": (lambda d, i: pyg.ClusterGCNConv(i, WIDTH), None),
    "SAGE of deviations": (lambda d, i: pyg.SAGEConv(i, WIDTH, "std"), None),
    "out-degree": (lambda d, i: OutDegree(i), None),
    # as users write them
    "sum layer": (lambda d, i: SumLayer(i, WIDTH), None),
    "pair layer": (lambda d, i: PairLayer(i, WIDTH), None),
    "by hand": (lambda d, i: ByHand(i, WIDTH), None),
    "caching": (lambda d, i: Caching(i, WIDTH), None),
}

NORMS: dict[str, Callable[[], nn.Module]] = {
    "batch": lambda: nn.BatchNorm1d(WIDTH),
    "batch of PyG": lambda: pyg.BatchNorm(WIDTH),
    "layer": lambda: nn.LayerNorm(WIDTH),
    "layer of PyG": lambda: pyg.LayerNorm(WIDTH, mode="node"),
}
# Those that look at all nodes of a graph.
GRAPH_NORMS: dict[str, Callable[[], nn.Module]] = {
    "layer over graphs": lambda: pyg.LayerNorm(WIDTH, mode="graph"),
    "graph": lambda: pyg.GraphNorm(WIDTH),
    "instance": lambda: pyg.InstanceNorm(WIDTH),
    "pair": lambda: pyg.PairNorm(),
    "size": lambda: pyg.GraphSizeNorm(),
}


class Padded(nn.Module):
    """A read-out over padded sequences of nodes, whose end is padding in all graphs but one."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.cell = nn.LSTM(width, width, batch_first=True)

    def forward(self, x: Tensor, batch: Tensor) -> Tensor:
        dense, _ = to_dense_batch(x, batch)
        return self.cell(dense)[0][:, -1]


POOLS: dict[str, Callable[[int], Callable[[Tensor, Tensor], Tensor]]] = {
    "sum": lambda width: pyg.SumAggregation(),
    "mean": lambda width: pyg.MeanAggregation(),
    "max": lambda width: pyg.MaxAggregation(),
    "attention": lambda width: pyg.AttentionalAggregation(nn.Linear(width, 1)),
    "add by name": lambda width: pyg.global_add_pool,
    "mean by name": lambda width: pyg.global_mean_pool,
    "max by name": lambda width: pyg.global_max_pool,
    "median": lambda width: pyg.MedianAggregation(),
    "softmax": lambda width: pyg.SoftmaxAggregation(learn=True),
    "variance": lambda width: pyg.VarAggregation(),
    "set to set": lambda width: pyg.Set2Set(width, 2),
    "sorted": lambda width: pyg.SortAggregation(2),
    "padded": Padded,
}
_WHOLE = 0.3  # the share of models that are taken as a whole
_TWICE_AS_WIDE = ("set to set", "sorted")
ENDS: dict[str, Callable[[Tensor], Tensor]] = {
    "raw": lambda out: out,
    "log_probs": lambda out: out.log_softmax(dim=-1),
    "probs": lambda out: out.softmax(dim=-1),
    "sigmoid": torch.sigmoid,
}


@dataclass(frozen=True)
class Plan:
    """What a model is made of; one that is taken as a whole has its name in `whole`."""

    layers: tuple[str, ...]
    norm: str | None
    residual: bool
    jumping: str | None
    pool: str | None
    mixer: str | None
    outputs: int
    end: str
    takes_object: bool
    whole: str | None = None

    @property
    def reads(self) -> set[str]:
        """The edge-level attributes that the layers take."""
        return {extra for name in self.layers if (extra := LAYERS[name][1])}


def draw_plan(dice: Dice) -> Plan:
    """Return what to build, or which model of the tests to take."""
    if dice.chance(_WHOLE):
        return plan_of_whole(dice.choice(list(dice.choice([ODD, OF_USERS]))))
    return plan_of_parts(dice)


def plan_of_whole(name: str) -> Plan:
    """Return the plan of a model of the tests."""
    outputs, end, takes_object = ENDS_OF[name]
    return Plan((), None, False, None, "sum", None, outputs, end, takes_object, name)


def plan_of_parts(dice: Dice) -> Plan:
    """Return a plan of random parts."""
    kinds = dice.some(list(LAYERS), dice.weighted({1: 0.6, 2: 0.4}))
    outputs = dice.weighted({1: 0.3, 2: 0.4, 4: 0.3})
    ends = {"raw": 0.7, "sigmoid": 0.3} if outputs == 1 else {"raw": 2, "log_probs": 1, "probs": 1}
    pool = None if dice.chance(0.25) else dice.choice(list(POOLS))
    return Plan(
        layers=tuple(dice.choices(kinds, k=dice.randint(1, 3))),
        norm=dice.choice([*NORMS, *GRAPH_NORMS]) if dice.chance(0.3) else None,
        residual=dice.chance(0.25),
        jumping=dice.choice(["cat", "max"]) if dice.chance(0.25) else None,
        pool=pool,
        mixer=dice.choice(list(MIXERS)) if pool and dice.chance(0.05) else None,
        outputs=outputs,
        end=dice.weighted(ends),
        takes_object=dice.chance(0.15),
    )


class Net(nn.Module):
    """A model of a plan, which takes its arguments by name."""

    def __init__(self, plan: Plan, dice: Dice) -> None:
        super().__init__()
        widths = [FEATURES] + [WIDTH] * (len(plan.layers) - 1)
        pairs = list(zip(plan.layers, widths, strict=True))
        self.convs = nn.ModuleList(LAYERS[name][0](dice, width) for name, width in pairs)
        self.extras = [LAYERS[name][1] for name in plan.layers]
        self.norm = None if plan.norm is None else (NORMS | GRAPH_NORMS)[plan.norm]()
        self.norms_graphs = plan.norm in GRAPH_NORMS
        self.residual = plan.residual
        self.jump = None if plan.jumping is None else pyg.JumpingKnowledge(plan.jumping)
        width = WIDTH * (len(plan.layers) if plan.jumping == "cat" else 1)
        self.pool: Any = None if plan.pool is None else POOLS[plan.pool](width)
        self.head = nn.Linear(width * (2 if plan.pool in _TWICE_AS_WIDE else 1), plan.outputs)
        self.mix = MIXERS[plan.mixer] if plan.mixer else nn.Identity()
        self.end = ENDS[plan.end]

    def forward(
        self,
        x: Tensor,
        edge_index: Tensor,
        edge_attr: Tensor | None = None,
        edge_weight: Tensor | None = None,
        edge_type: Tensor | None = None,
        batch: Tensor | None = None,
    ) -> Tensor:
        given = {"edge_attr": edge_attr, "edge_weight": edge_weight, "edge_type": edge_type}
        states: list[Tensor] = []
        for conv, extra in zip(self.convs, self.extras, strict=True):
            new = conv(x, edge_index, **({} if extra is None else {extra: given[extra]}))
            new = self._normed(new, batch).tanh()
            x = new + x if self.residual and states else new
            states.append(x)
        x = x if self.jump is None else self.jump(states)
        return self.end(self.head(x if self.pool is None else self.mix(self.pool(x, batch))))

    def _normed(self, x: Tensor, batch: Tensor | None) -> Tensor:
        if self.norm is None:
            return x
        return self.norm(x, batch) if self.norms_graphs else self.norm(x)


class ObjectNet(nn.Module):
    """The same, called with a graph."""

    def __init__(self, net: Net, reads: set[str]) -> None:
        super().__init__()
        self.net, self.reads = net, sorted(reads)

    def forward(self, data: Data) -> Tensor:
        read = {name: getattr(data, name) for name in self.reads}
        return self.net(data.x, data.edge_index, batch=data.batch, **read)


def draw_model(plan: Plan, dice: Dice, dtype: torch.dtype) -> nn.Module:
    """Return a model of a plan whose outputs differ clearly between graphs."""
    if plan.whole:
        return WHOLE[plan.whole]().to(dtype).train(dice.chance(0.1))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(dice.getrandbits(32))
        net = Net(plan, dice)
        with torch.no_grad():
            for parameter in net.parameters():
                parameter.mul_(1.6)
            for name, buffer in net.named_buffers():
                if name.endswith(("running_mean", "running_var")):
                    buffer.copy_(torch.rand_like(buffer) + 0.1)
    model = ObjectNet(net, plan.reads) if plan.takes_object else net
    return model.to(dtype).train(dice.chance(0.1))
