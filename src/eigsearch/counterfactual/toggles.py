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
    """The changes that may be made to the graph of a prediction, numbered, removals first.

    Attributes:
        instance: The instance with all additions; each of its groups is a toggle.
        removals: The number of toggles that remove a group; the others add an edge.
        pairs: The pair of nodes that each addition joins, `[A, 2]`.
        both: Whether an addition adds the reverse of its edge as well.
        bonds: Checks changes of a molecule; None for other graphs.
    """

    instance: PreparedInstance
    removals: int
    pairs: np.ndarray
    both: bool = False
    bonds: BondCheck | None = None

    def __len__(self) -> int:
        return self.instance.groups.count

    @property
    def additions(self) -> int:
        """The number of edges that may be added."""
        return len(self.pairs)

    @property
    def removes(self) -> np.ndarray:
        """Whether each toggle removes, and does not add."""
        return np.arange(len(self)) < self.removals

    @property
    def edges(self) -> Tensor | None:
        """The edges of the graph as it is that matter, also after additions; None for all."""
        edges = self.instance.edges
        return None if edges is None else edges[self._is_own]

    @property
    def group(self) -> Tensor:
        """The toggle that removes each of `edges`, −1 for one that is never removed."""
        return self.instance.groups.index[self._is_own]

    @property
    def _is_own(self) -> Tensor:
        return self.instance.groups.index < self.removals

    def removed(self, toggles: np.ndarray) -> np.ndarray:
        """Return those of some toggles that remove."""
        return toggles[toggles < self.removals]

    def added(self, toggles: np.ndarray) -> Tensor:
        """Return the edges that some toggles add, `[2, A]`."""
        pairs = self.pairs[toggles[toggles >= self.removals] - self.removals]
        return torch.from_numpy(pairs.T.reshape(2, -1).copy())

    def mask(self, toggles: np.ndarray) -> Tensor:
        """Return the mask over all toggles that marks some of them."""
        return torch.from_numpy(np.isin(np.arange(len(self)), toggles))

    def allow(self, toggles: np.ndarray) -> bool:
        """Return whether these changes lead to a valid graph."""
        if self.bonds is None:
            return True
        edges = np.flatnonzero(np.isin(self._edge_groups, self.removed(toggles)))
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

    def grown(self, toggles: np.ndarray, more: np.ndarray) -> SingleFlips:
        """Return the graph after some toggles and each one of others."""
        base = self.removes
        base[toggles] ^= True
        return SingleFlips(torch.from_numpy(base), more.tolist(), SubgraphKind.ALL_NODES)

    def candidates(self, sets: np.ndarray) -> ExplicitMasks:
        """Return the graph after the toggles of each row, `[n, size]`."""
        masks = np.tile(self.removes, (len(sets), 1))
        masks[np.arange(len(sets))[:, None], sets] ^= True
        return ExplicitMasks(torch.from_numpy(masks), SubgraphKind.ALL_NODES)


def make_toggles(
    predictor: Predictor, original: PredictedInstance, instance: Instance, options: FlipOptions
) -> Toggles:
    """Return the changes that may be made to the graph of an instance."""
    if options.add is False:
        return Toggles(original, original.groups.count, np.zeros((0, 2), np.int64))
    data = instance.data
    groups = make_groups(predictor.options.groups, data).index
    both = _is_two_way(groups, data)
    if options.add is True:
        pairs = pairs_within_two_hops(data, original.source_anchors, both)
    else:
        pairs = check_pairs(options.add, data, both)
    single = single_bond(data, options.bonds)
    grown, partition = with_additions(data, groups, pairs, both, single, original.levels)
    toggles = _with_pairs(predictor, instance._replace(data=grown), partition, int(data.num_edges))
    check = bond_check(data, options.atoms, options.bonds)
    return replace(toggles, both=both, bonds=check)


def _with_pairs(
    predictor: Predictor, instance: Instance, partition: Tensor, own_edges: int
) -> Toggles:
    """Return the toggles of a graph with additions, whose edges follow its own.

    What the additions bring into reach of a node or a link may be removed as well.
    """
    prepared = predictor.prepare_changed(instance, partition.cpu())
    local = prepared.groups.index.cpu().numpy()
    edge = np.arange(len(local)) if prepared.edges is None else prepared.edges.cpu().numpy()
    # groups are numbered by first appearance, so those of new edges come last
    removals = int(local[edge < own_edges].max(initial=-1)) + 1
    number, first = np.unique(local, return_index=True)
    joined = edge[first[number >= removals]]
    return Toggles(prepared, removals, instance.data.edge_index.cpu().numpy()[:, joined].T)


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
