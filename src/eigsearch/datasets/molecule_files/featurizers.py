"""Featurizers: how a molecule becomes a graph, by name or a function of the user."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch_geometric.data import Data

from eigsearch._utils.importing import import_named, is_import_name
from eigsearch._utils.name_lookup import resolve
from eigsearch.errors import InputError

Featurizer = Callable[[Any], Data]

ELEMENTS = ("H", "B", "C", "N", "O", "F", "Si", "P", "S", "Cl", "Se", "Br", "I")
_BONDS = ("SINGLE", "DOUBLE", "TRIPLE", "AROMATIC")
_SYMBOLS = (
    *("B", "C", "N", "O", "F", "Si", "P", "S", "Cl", "As", "Se", "Br", "Te", "I", "At"),
    "other",
)
_HYBRIDS = ("SP", "SP2", "SP3", "SP3D", "SP3D2", "other")
_STEREO = ("STEREONONE", "STEREOANY", "STEREOZ", "STEREOE")


@dataclass(frozen=True)
class NamedFeaturizer:
    """A featurizer of the library.

    Attributes:
        make: The function: an RDKit molecule in, its graph out.
        about: What the columns of `x` and `edge_attr` are.
    """

    make: Featurizer
    about: str


def pyg(mol: Any) -> Data:
    """Return a molecule as `torch_geometric.utils.from_smiles` does: integer categories."""
    from torch_geometric.utils.smiles import from_rdmol

    return from_rdmol(mol)


def pyg_hydrogens(mol: Any) -> Data:
    """Return a molecule as `pyg` does, with a node for each hydrogen."""
    from rdkit import Chem

    return pyg(Chem.AddHs(mol))


def elements(mol: Any) -> Data:
    """Return a molecule with one-hot elements and one-hot bond types, as floats."""
    x = [_one_hot(atom.GetSymbol(), (*ELEMENTS, "other")) for atom in mol.GetAtoms()]
    return _graph(mol, x, _bond_type, len(_BONDS))


def attentive_fp(mol: Any) -> Data:
    """Return a molecule with the 39 atom and 10 bond features of AttentiveFP, as floats."""
    return _graph(mol, [_attentive_atom(atom) for atom in mol.GetAtoms()], _attentive_bond, 10)


FEATURIZERS = {
    "pyg": NamedFeaturizer(
        pyg, "9 integers an atom and 3 a bond, as torch_geometric.utils.from_smiles has them"
    ),
    "pyg_hydrogens": NamedFeaturizer(pyg_hydrogens, "as pyg, with a node for each hydrogen"),
    "elements": NamedFeaturizer(
        elements,
        f"one-hot element ({', '.join(ELEMENTS)}, other) and one-hot bond type (single, double, "
        "triple, aromatic)",
    ),
    "attentive_fp": NamedFeaturizer(
        attentive_fp, "39 numbers an atom and 10 a bond, as in PyG's example of AttentiveFP"
    ),
}


def find_featurizer(name: str | Featurizer) -> Featurizer:
    """Return the featurizer that a user named.

    Args:
        name: A name in `FEATURIZERS`, `package.module:function`, `file.py:function`, or a
            function. A function of the user gets an RDKit molecule and returns a `Data` with a
            node for each atom.

    Raises:
        InputError: If there is none of that name.
    """
    if callable(name):
        return name
    if is_import_name(name):
        return import_named(name, "--featurizer", "function")
    return FEATURIZERS[resolve("featurizer", name, FEATURIZERS)].make


def featurize(featurizer: Featurizer, mol: Any) -> Data:
    """Return the graph of a molecule; raise InputError if the featurizer gives none."""
    graph = featurizer(mol)
    if not isinstance(graph, Data) or graph.get("edge_index") is None:
        raise InputError(
            "Expected the featurizer to return a PyG `Data` with an `edge_index` (got "
            f"{type(graph).__name__}). Return one for each RDKit molecule."
        )
    return graph


def _graph(
    mol: Any, x: list[list[float]], bond_features: Callable[[Any], list[float]], width: int
) -> Data:
    """Return a graph with both directions of each bond, sorted as PyG sorts them."""
    ends, attributes = [], []
    for bond in mol.GetBonds():
        u, v = bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()
        ends += [(u, v), (v, u)]
        attributes += [bond_features(bond)] * 2
    order = sorted(range(len(ends)), key=ends.__getitem__)
    edge_index = torch.tensor([ends[i] for i in order], dtype=torch.long).reshape(-1, 2).t()
    edge_attr = torch.tensor([attributes[i] for i in order], dtype=torch.float)
    return Data(
        x=torch.tensor(x, dtype=torch.float),
        edge_index=edge_index.contiguous(),
        edge_attr=edge_attr.reshape(-1, width),
    )


def _one_hot(value: Any, choices: Sequence[Any], last: bool = True) -> list[float]:
    """Return one-hot columns; what is none of the choices is the last one, or nothing.

    >>> _one_hot("N", ("C", "N", "other")), _one_hot("X", ("C", "N", "other"))
    ([0.0, 1.0, 0.0], [0.0, 0.0, 1.0])
    """
    if value not in choices and last:
        value = choices[-1]
    return [float(value == choice) for choice in choices]


def _bond_type(bond: Any) -> list[float]:
    return _one_hot(str(bond.GetBondType()), _BONDS, last=False)


def _attentive_atom(atom: Any) -> list[float]:
    chirality = atom.GetProp("_CIPCode") if atom.HasProp("_CIPCode") else ""
    return [
        *_one_hot(atom.GetSymbol(), _SYMBOLS),
        *_one_hot(atom.GetDegree(), range(6), last=False),
        float(atom.GetFormalCharge()),
        float(atom.GetNumRadicalElectrons()),
        *_one_hot(str(atom.GetHybridization()), _HYBRIDS),
        float(atom.GetIsAromatic()),
        *_one_hot(atom.GetTotalNumHs(), range(5), last=False),
        float(atom.HasProp("_ChiralityPossible")),
        *_one_hot(chirality, ("R", "S"), last=False),
    ]


def _attentive_bond(bond: Any) -> list[float]:
    return [
        *_bond_type(bond),
        float(bond.GetIsConjugated()),
        float(bond.IsInRing()),
        *_one_hot(str(bond.GetStereo()), _STEREO, last=False),
    ]
