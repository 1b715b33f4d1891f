"""Molecules as chemprop featurizes them, as PyG graphs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch._utils.smiles import in_smiles_order, read_smiles
from eigsearch.errors import MissingExtraError


def to_graphs(molecules: Iterable[Any], featurizer: Any = None) -> list[Data]:
    """Return molecules as graphs with chemprop's own features.

    Args:
        molecules: SMILES; or `chemprop.data.MoleculeDatapoint` with what else the model was
            trained on: hydrogens, descriptors, features of atoms and bonds.
        featurizer: The featurizer of the training run; by default chemprop's default.

    Returns:
        A graph for each molecule: `x` and `edge_attr` as chemprop computes them, `v_d` and `x_d`
        where the molecule has descriptors, and `smiles`, whose atoms are in the same order.
    """
    try:
        from chemprop.data import MoleculeDataset
    except ImportError as error:
        raise MissingExtraError("chemprop", "chemprop", "explain chemprop models") from error
    molecules = list(molecules)
    points = [_datapoint(molecule) for molecule in molecules]
    dataset = MoleculeDataset(points, featurizer) if featurizer else MoleculeDataset(points)
    graphs = [_graph(dataset[number]) for number in range(len(points))]
    return [
        _named(graph, molecule, point)
        for graph, molecule, point in zip(graphs, molecules, points, strict=True)
    ]


def _datapoint(molecule: Any) -> Any:
    """Return a molecule as chemprop takes it; SMILES keep the order of their atoms."""
    from chemprop.data import MoleculeDatapoint

    return MoleculeDatapoint(read_smiles(molecule)) if isinstance(molecule, str) else molecule


def _named(graph: Data, molecule: Any, point: Any) -> Data:
    """Return a graph with its SMILES, and with its atoms in their order."""
    if isinstance(molecule, str):
        graph.smiles = molecule
        return graph
    graph.smiles, order = in_smiles_order(point.mol)
    place = torch.tensor(order).argsort()
    graph.edge_index = place[graph.edge_index]
    for name in ("x", "v_d"):
        if name in graph:
            graph[name] = graph[name][order]
    if point.name is not None:
        graph.name = str(point.name)
    return graph


def _graph(datum: Any) -> Data:
    graph = Data(
        x=_floats(datum.mg.V),
        edge_index=torch.as_tensor(datum.mg.edge_index).long().reshape(2, -1),
        edge_attr=_floats(datum.mg.E),
    )
    if datum.V_d is not None:
        graph.v_d = _floats(datum.V_d)
    if datum.x_d is not None:
        graph.x_d = _floats(datum.x_d)[None]
    return graph


def _floats(values: Any) -> Tensor:
    return torch.as_tensor(values).float()
