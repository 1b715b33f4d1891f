"""The bare model, called on one cut-out graph at a time, as anybody would."""

from __future__ import annotations

import torch
from tests.reference.twin import edge_induced, spanning
from torch import Tensor
from torch_geometric.data import Batch, Data

from benchmarks.fuzz.cases import Case
from benchmarks.fuzz.whole_models import never_called
from eigsearch import SubgraphExplanation
from eigsearch.inference.target import Target
from eigsearch.inputs.edge_groups import Groups, make_groups

_ROUNDING = {True: 2e-3, False: 1e-5}  # of the largest number, in single precision or not
_TRUSTED = 16  # so many roundings may add up in a probability


class Plain:
    """Answers by plain calls of a case's model."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.rounding = _ROUNDING[case.single]

    def phi(self, ex: SubgraphExplanation, data: Data, node: int | None) -> float:
        """Return φ of a graph: log-odds, or the regressed value."""
        output = self.output(data)
        row = output.reshape(1, -1) if node is None else output[node].reshape(1, -1)
        return float(self.target(ex).phi(row))

    def output(self, data: Data) -> Tensor:
        """Return what the model says about a graph, with no call before."""
        model = never_called(self.case.model).eval()
        data = data.clone()
        data.edge_index = data.edge_index.long()
        read = {name: data[name] for name in self.case.plan.reads}
        with torch.no_grad():
            batch = Batch.from_data_list([data])
            if self.case.plan.takes_object:
                return model(batch)
            return model(batch.x, batch.edge_index, batch=batch.batch, **read)

    def target(self, ex: SubgraphExplanation) -> Target:
        """Return what is explained."""
        return Target(ex.config["task"], ex.config["return_type"], ex.target)

    def values(self, ex: SubgraphExplanation) -> list[float]:
        """Return the value of the whole graph, of the subgraph alone, and of the rest."""
        mask, fixed = ex.edge_mask, self.in_group(ex, -1)
        phis = [self.phi(ex, ex.data, ex.node)]
        for kept in (mask | fixed, ~mask):
            graph, anchors = edge_induced(ex.data, kept, ex.anchors)
            if "nodes='keep'" in ex.note:  # chosen for a model that knows nodes by number
                graph, anchors = spanning(ex.data, kept), ex.anchors
            phis.append(self.phi(ex, graph, anchors[0] if anchors else None))
        return self.target(ex).value(torch.tensor(phis, dtype=torch.float64)).tolist()

    def drop(self, ex: SubgraphExplanation, number: int) -> tuple[float, float]:
        """Return what the removal of a group loses: by the bare model, and by its score."""
        without = spanning(ex.data, ~self.in_group(ex, number))
        phis = [self.phi(ex, data, ex.node) for data in (ex.data, without)]
        before, after = torch.tensor(phis, dtype=torch.float64)
        return float(self.target(ex).change(before, after)), float(self.drops(ex)[number])

    def groups(self, ex: SubgraphExplanation) -> Groups:
        """Return the groups of an answer with their weights."""
        local = spanning(ex.data, self._local_mask(ex))
        return make_groups(ex.group, local)

    def distance(self, ex: SubgraphExplanation) -> Tensor:
        """Return |A − A^t| of the group that each edge is in, 1 where it is in none."""
        spread = torch.ones(ex.data.num_edges, dtype=torch.float64)
        local = self._local(ex)[ex.group >= 0]
        spread[local] = self.groups(ex).distance.double()[ex.group[ex.group >= 0]]
        return spread

    def drops(self, ex: SubgraphExplanation) -> Tensor:
        """Return what the removal of each group loses."""
        return ex.score * self.groups(ex).distance

    def tolerance(self, ex: SubgraphExplanation) -> float:
        """Return how far values may be apart by rounding."""
        values = [ex.value, *ex.curve.kept.tolist(), *ex.curve.removed.tolist()]
        return self.rounding * max(1.0, *map(abs, values))

    def tolerance_of_drop(self, ex: SubgraphExplanation) -> float:
        """Return how far drops may be apart by rounding."""
        drop = float(self.drops(ex).abs().max()) if ex.num_groups else 0.0
        whole = abs(self.phi(ex, ex.data, ex.node))
        return self.rounding * max(1.0, drop, whole) + self._lost_in_probabilities(ex)

    def in_group(self, ex: SubgraphExplanation, number: int) -> Tensor:
        """Return which edges of the graph are in a group."""
        inside = torch.zeros(ex.data.num_edges, dtype=torch.bool)
        inside[self._local(ex)[ex.group == number]] = True
        return inside

    def _lost_in_probabilities(self, ex: SubgraphExplanation) -> float:
        """Return what log-odds lose where a model returns one probability close to 0 or 1."""
        if self.case.plan.end != "sigmoid" or not ex.num_groups:
            return 0.0
        whole = self.phi(ex, ex.data, ex.node)
        p = torch.sigmoid(whole - torch.cat([self.drops(ex), torch.zeros(1)]))
        eps = torch.finfo(self.case.graphs[0].x.dtype).eps
        return float((_TRUSTED * eps / (p * (1 - p)).clamp_min(1e-300)).max())

    def _local(self, ex: SubgraphExplanation) -> Tensor:
        return torch.arange(ex.data.num_edges) if ex.edges is None else ex.edges

    def _local_mask(self, ex: SubgraphExplanation) -> Tensor:
        mask = torch.zeros(ex.data.num_edges, dtype=torch.bool)
        mask[self._local(ex)] = True
        return mask
