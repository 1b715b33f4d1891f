"""Toggles: the edges that may be removed, and those that may be added."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.candidates import ExplicitMasks, SingleFlips, SubgraphKind
from eigsearch.counterfactual.additions import check_pairs, pairs_within_two_hops, with_additions
from eigsearch.counterfactual.bonds import BondCheck, bond_check, single_bond
from eigsearch.counterfactual.options import FlipOptions
from eigsearch.engines.predictor import Predictor
from eigsearch.inference.prediction import PredictedInstance
from eigsearch.inputs.edge_groups import make_groups
from eigsearch.inputs.instance import Instance, PreparedInstance


@dataclass(frozen=True, eq=False)
class Toggles:
    """The changes that may be made to the graph of a prediction, numbered.

    Attributes:
        instance: The instance with all additions as further groups.
        groups: The group of `instance` that each toggle removes or adds.
        own: The group of the graph as it is that each toggle removes, −1 for an addition.
        pairs: The pair of nodes that each toggle joins, −1 for a removal, `[T, 2]`.
        both: Whether an addition adds the reverse of its edge as well.
        bonds: Checks changes of a molecule; None for other graphs.
    """

    instance: PreparedInstance
    groups: np.ndarray
    own: np.ndarray
    pairs: np.ndarray
    both: bool = False
    bonds: BondCheck | None = None

    def __len__(self) -> int:
        return len(self.groups)

    @property
    def additions(self) -> int:
        """The number of edges that may be added."""
        return int((self.own < 0).sum())

    def removed(self, toggles: np.ndarray) -> np.ndarray:
        """Return the groups that some toggles remove."""
        own = self.own[toggles]
        return own[own >= 0]

    def added(self, toggles: np.ndarray) -> Tensor:
        """Return the edges that some toggles add, `[2, A]`."""
        pairs = self.pairs[toggles[self.own[toggles] < 0]]
        return torch.from_numpy(pairs.T.reshape(2, -1).copy())

    def allow(self, toggles: np.ndarray) -> bool:
        """Return whether these changes lead to a valid graph."""
        if self.bonds is None:
            return True
        removed = self.groups[toggles[self.own[toggles] >= 0]]
        edges = np.flatnonzero(np.isin(self._edge_groups, removed))
        bonds = {(min(u, v), max(u, v)) for u, v in self._ends[:, edges].T.tolist() if u != v}
        return self.bonds.allows(bonds, self.added(toggles).t().tolist())

    @cached_property
    def _edge_groups(self) -> np.ndarray:
        return self.instance.groups.index.cpu().numpy()

    @cached_property
    def _ends(self) -> np.ndarray:
        """The nodes of the whole graph that each evaluated edge joins."""
        ends, edges = self.instance.source.edge_index.cpu(), self.instance.edges
        return (ends if edges is None else ends[:, edges.cpu()]).numpy()

    @cached_property
    def _base(self) -> np.ndarray:
        """The graph as it is."""
        base = np.ones(self.instance.groups.count, bool)
        base[self.groups[self.own < 0]] = False
        return base

    def grown(self, toggles: np.ndarray, more: np.ndarray) -> SingleFlips:
        """Return the graph after some toggles and each one of others."""
        base = self._base.copy()
        base[self.groups[toggles]] ^= True
        entries = self.groups[more].tolist()
        return SingleFlips(torch.from_numpy(base), entries, SubgraphKind.ALL_NODES)

    def candidates(self, sets: np.ndarray) -> ExplicitMasks:
        """Return the graph after the toggles of each row, `[n, size]`."""
        masks = np.tile(self._base, (len(sets), 1))
        masks[np.arange(len(sets))[:, None], self.groups[sets]] ^= True
        return ExplicitMasks(torch.from_numpy(masks), SubgraphKind.ALL_NODES)


def make_toggles(
    predictor: Predictor, original: PredictedInstance, instance: Instance, options: FlipOptions
) -> Toggles:
    """Return the changes that may be made to the graph of an instance."""
    own = np.arange(original.groups.count)
    if options.add is False:
        return Toggles(original, own, own, np.full((len(own), 2), -1))
    data = instance.data
    groups = make_groups(predictor.options.groups, data).index
    both = _is_two_way(groups, data)
    if options.add is True:
        pairs = pairs_within_two_hops(data, original.source_anchors, both)
    else:
        pairs = check_pairs(options.add, data, both)
    single = single_bond(data, options.bonds)
    grown, partition = with_additions(data, groups, pairs, both, single, original.levels)
    toggles = _with_pairs(predictor, original, instance._replace(data=grown), partition)
    check = bond_check(data, options.atoms, options.bonds)
    return replace(toggles, both=both, bonds=check)


def _with_pairs(
    predictor: Predictor, original: PredictedInstance, instance: Instance, partition: Tensor
) -> Toggles:
    """Return the toggles of a graph with additions, whose edges follow its own."""
    data, grown = original.source, instance.data
    prepared = predictor.prepare_changed(instance, partition.cpu())
    local = prepared.groups.index.cpu().numpy()
    source = np.arange(len(local)) if prepared.edges is None else prepared.edges.cpu().numpy()
    # the first edge of each group says what the group is
    group, first = np.unique(local[local >= 0], return_index=True)
    edge = source[local >= 0][first]
    is_new = edge >= int(data.num_edges)
    own = np.where(is_new, -1, _own_groups(original)[np.minimum(edge, int(data.num_edges) - 1)])
    usable = is_new | (own >= 0)
    ends = grown.edge_index.cpu().numpy()[:, edge].T
    joined = np.where(is_new[:, None], ends, -1)
    return Toggles(prepared, group[usable], own[usable], joined[usable])


def _own_groups(original: PredictedInstance) -> np.ndarray:
    """Return the group of each edge of the source, −1 where it has none or is out of reach."""
    own = np.full(max(int(original.source.num_edges), 1), -1)
    edges = slice(None) if original.edges is None else original.edges.cpu().numpy()
    own[: int(original.source.num_edges)][edges] = original.groups.index.cpu().numpy()
    return own


def _is_two_way(group: Tensor, data: Data) -> bool:
    """Return whether an edge is removed together with its reverse, so that new ones are as well.

    So they are where no edge joins two nodes, and nothing else can tell.
    """
    source, target = data.edge_index.cpu().numpy()
    apart = source != target
    if not apart.any():
        return True
    source, target, number = source[apart], target[apart], group.cpu().numpy()[apart]
    low, high, forth = np.minimum(source, target), np.maximum(source, target), source < target
    order = np.lexsort([forth, high, low, number])  # reverses of one group become neighbours
    pairs = np.stack([number, low, high])[:, order]
    same = (pairs[:, 1:] == pairs[:, :-1]).all(axis=0)
    return bool((same & (forth[order][1:] != forth[order][:-1])).any())
