"""Read atoms and bonds of a graph, and compute their 2D coordinates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch_geometric.data import Data

from eigsearch._utils.smiles import readings
from eigsearch.visualization.elements import is_element, subscript
from eigsearch.visualization.labels import Names
from eigsearch.visualization.layout import Positions

BOND_LENGTH = 42.0  # in picture units
_ORDERS = {"single": 1.0, "double": 2.0, "triple": 3.0, "aromatic": 1.5}
_CHARGES = {-2: "²⁻", -1: "⁻", 0: "", 1: "⁺", 2: "²⁺"}

Pair = tuple[int, int]  # two atoms, the lower number first


@dataclass(frozen=True)
class Molecule:
    """Atoms and bonds of a graph.

    Attributes:
        symbols: The element of each atom.
        labels: The element with hydrogens and charge, if known.
        orders: The order of each bond; one of unknown order counts as single.
    """

    symbols: tuple[str, ...]
    labels: tuple[str, ...]
    orders: dict[Pair, float]


def read_molecule(data: Data, names: Names) -> Molecule | None:
    """Return a graph as a molecule, or None if it is not one.

    Reads an RDKit `data.mol` or `data.smiles` if RDKit is installed, otherwise the atom labels.
    """
    mol, pairs = rdkit_molecule(data), _pairs(data)
    if mol is not None:
        return _from_mol(mol)
    labels = names.labels(data)
    if labels is None or not names.are_elements:
        return None
    orders = dict.fromkeys(sorted(pairs), 1.0) | _orders(data, names)
    return Molecule(tuple(labels), tuple(labels), orders)


def rdkit_molecule(data: Data) -> Any:
    """Return the RDKit molecule whose atoms and bonds the graph has, or None."""
    pairs = _pairs(data)
    matching = (
        mol
        for mol in _mols(data)
        if mol.GetNumAtoms() == data.num_nodes and set(_bonds(mol)) == pairs
    )
    return next(matching, None)


def coordinates(molecule: Molecule) -> Positions | None:
    """Return RDKit's 2D coordinates of the atoms, or None if RDKit is not installed."""
    mol = _to_mol(molecule)
    if mol is None:
        return None
    from rdkit.Chem import rdDepictor

    rdDepictor.Compute2DCoords(mol, canonOrient=True)
    positions = mol.GetConformer().GetPositions()[:, :2] * (1.0, -1.0)  # a picture's y runs down
    ends = np.array([(b.GetBeginAtomIdx(), b.GetEndAtomIdx()) for b in mol.GetBonds()])
    if not len(ends):
        return positions * (BOND_LENGTH / 1.5)
    lengths = np.linalg.norm(positions[ends[:, 0]] - positions[ends[:, 1]], axis=1)
    return positions * (BOND_LENGTH / np.median(lengths))


def ring_sides(molecule: Molecule, positions: Positions) -> dict[Pair, int]:
    """Return the side of each ring bond on which its smallest ring lies.

    1 is left and −1 right of the lower atom; the second line of a double bond goes there.
    """
    mol = _to_mol(molecule)
    if mol is None:
        return {}
    sides: dict[Pair, int] = {}
    for ring in sorted(map(list, mol.GetRingInfo().AtomRings()), key=len):
        centre = positions[ring].mean(axis=0)
        for pair in zip(ring, ring[1:] + ring[:1], strict=True):
            low, high = sorted(pair)
            along, inward = positions[high] - positions[low], centre - positions[low]
            turn = along[0] * inward[1] - along[1] * inward[0]
            sides.setdefault((low, high), 1 if turn > 0 else -1)
    return sides


def _pairs(data: Data) -> set[Pair]:
    return {(min(u, v), max(u, v)) for u, v in data.edge_index.t().tolist()}


def _mols(data: Data) -> Iterator[Any]:
    """Yield RDKit molecules that may be the graph."""
    try:
        from rdkit import Chem
    except ImportError:
        return
    if isinstance(data.get("mol"), Chem.Mol):
        yield data.mol
    if isinstance(data.get("smiles"), str):
        yield from readings(data.smiles)  # none if unreadable: it is drawn as a graph


def _bonds(mol: Any) -> dict[Pair, float]:
    ends = ((b.GetBeginAtomIdx(), b.GetEndAtomIdx(), b) for b in mol.GetBonds())
    return {(min(u, v), max(u, v)): b.GetBondTypeAsDouble() for u, v, b in ends}


def _from_mol(mol: Any) -> Molecule:
    from rdkit import Chem

    mol = Chem.Mol(mol)
    mol.UpdatePropertyCache(strict=False)
    if any(bond.GetIsAromatic() for bond in mol.GetBonds()):
        Chem.KekulizeIfPossible(mol, clearAromaticFlags=True)
    symbols = tuple(atom.GetSymbol() for atom in mol.GetAtoms())
    return Molecule(symbols, tuple(map(_atom_label, mol.GetAtoms())), _bonds(mol))


def _atom_label(atom: Any) -> str:
    hydrogens, charge = atom.GetTotalNumHs(), atom.GetFormalCharge()
    if atom.GetSymbol() == "C" and not charge:
        return "C"
    attached = f"H{subscript(hydrogens)}" if hydrogens else ""
    return atom.GetSymbol() + attached + _CHARGES.get(charge, f"{charge:+d}")


def _orders(data: Data, names: Names) -> dict[Pair, float]:
    """Return the bond orders in a one-hot `edge_attr` with named columns."""
    attr = data.get("edge_attr")
    if not names.edge_names or attr is None or attr.dim() != 2:
        return {}
    if attr.size(1) != len(names.edge_names):
        return {}
    order_of_column = [_ORDERS.get(name, 1.0) for name in names.edge_names]
    columns = attr.argmax(dim=1).tolist()
    ends = data.edge_index.t().tolist()
    return {
        (min(u, v), max(u, v)): order_of_column[c] for (u, v), c in zip(ends, columns, strict=True)
    }


def _to_mol(molecule: Molecule) -> Any:
    """Return an RDKit molecule without valence checks, or None without RDKit."""
    try:
        from rdkit import Chem
    except ImportError:
        return None
    kinds = {1.0: Chem.BondType.SINGLE, 2.0: Chem.BondType.DOUBLE, 3.0: Chem.BondType.TRIPLE}
    mol = Chem.RWMol()
    for symbol in molecule.symbols:
        mol.AddAtom(Chem.Atom(symbol if is_element(symbol) else 0))
    for (low, high), order in molecule.orders.items():
        if low != high:
            mol.AddBond(low, high, kinds.get(order, Chem.BondType.SINGLE))
    for atom in mol.GetAtoms():
        atom.SetNoImplicit(True)
    mol.UpdatePropertyCache(strict=False)
    Chem.FastFindRings(mol)
    return mol
