"""Explanations of molecules whose chosen bonds are known."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch_geometric.utils import from_smiles

from tests.visualization.samples import explained

NITRO = "c1ccccc1[N+](=O)[O-]"


def choose(smiles, bonds, target=0, **fields):
    """Return an explanation of a molecule that chose these bonds."""
    found = explained(from_smiles(smiles), size=2, target=target)
    wanted = {frozenset(bond) for bond in bonds}
    ends = found.data.edge_index.t().tolist()
    keep = torch.zeros_like(found.keep)
    for (u, v), group in zip(ends, found.group.tolist(), strict=True):
        keep[group] = keep[group] or frozenset((u, v)) in wanted
    return replace(found, keep=keep, **fields)


def nitro(target=0):
    return choose(NITRO, [(5, 6), (6, 7), (6, 8)], target)


def six():
    yield from (nitro(1), nitro(1))
    yield choose("CC[N+](=O)[O-]", [(0, 1), (1, 2), (2, 3), (2, 4)], 1)  # in a larger fragment
    yield choose("CCO", [(0, 1), (1, 2)])
    yield choose("CCCO", [(1, 2), (2, 3)])
    yield choose(NITRO, [(0, 1), (1, 2)])  # has a nitro group that is not the reason
