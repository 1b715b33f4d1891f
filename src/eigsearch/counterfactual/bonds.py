"""Check which changes of a molecule RDKit can sanitise."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch._utils.smiles import read_smiles, readings
from eigsearch.errors import InputError, MissingExtraError

Pair = tuple[int, int]

BOND_ORDERS = {"single": 1, "double": 2, "triple": 3, "aromatic": 12}  # as RDKit numbers them


class BondCheck:
    """Checks whether RDKit can sanitise a molecule after a change of bonds.

    A data set may lack charges, so that RDKit refuses some atoms as they are. They may stay, but
    get no new bond.
    """

    def __init__(self, mol: Any) -> None:
        from rdkit import Chem

        self._mol = Chem.RWMol(mol)
        self._mol.UpdatePropertyCache(strict=False)
        Chem.SanitizeMol(self._mol, Chem.SanitizeFlags.SANITIZE_CLEANUP)
        Chem.KekulizeIfPossible(self._mol, clearAromaticFlags=True)
        self._refused = _refused_atoms(self._mol)

    def allows(self, removed: Iterable[Pair], added: Iterable[Pair]) -> bool:
        """Return whether these bonds can be removed and single ones added.

        Two directions of an edge are one bond; where one is there, none is added.
        """
        from rdkit import Chem

        added = {(min(pair), max(pair)) for pair in added}
        if not added:
            return True
        if any(u == v for u, v in added):
            return False  # no atom has a bond with itself
        mol = Chem.RWMol(self._mol)
        for u, v in removed:
            mol.RemoveBond(u, v)
        for u, v in added:
            if mol.GetBondBetweenAtoms(u, v) is None:
                mol.AddBond(u, v, Chem.BondType.SINGLE)
        refused = _refused_atoms(mol)
        return refused <= self._refused and refused.isdisjoint(
            end for pair in added for end in pair
        )


def bond_check(
    data: Data, atoms: Sequence[str] | None, bonds: Sequence[str] | None
) -> BondCheck | None:
    """Return the check of a graph that is a molecule, None for any other graph.

    Args:
        data: The graph; its `smiles`, if they describe its atoms and bonds, say what it is.
        atoms: Otherwise the element of each `data.node_label`.
        bonds: The orders that the columns of `data.edge_attr` stand for; single by default.

    Raises:
        InputError: If the names do not fit, or `smiles` do not and there are no names.
    """
    smiles = data.get("smiles")
    if isinstance(smiles, str):
        read_smiles(smiles, "`smiles`")
        pairs = _pairs(data.edge_index.t().tolist())
        for mol in readings(smiles):
            ends = ((bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in mol.GetBonds())
            if mol.GetNumAtoms() == data.num_nodes and _pairs(ends) == pairs:
                return BondCheck(mol)
        if atoms is None:
            raise InputError(
                "Expected `smiles` to describe the atoms and bonds of the graph in the order of "
                f"its nodes (got {smiles!r} for {data.num_nodes} nodes and {len(pairs)} bonds). "
                "Pass the elements as `atoms`, or remove `smiles` to add edges that no molecule "
                "has."
            )
    return None if atoms is None else BondCheck(_molecule(data, atoms, bonds))


def _pairs(ends: Iterable[Sequence[int]]) -> set[Pair]:
    """Return the bonds between two atoms, the lower one first."""
    return {(min(u, v), max(u, v)) for u, v in ends if u != v}


def bond_orders(data: Data, bonds: Sequence[str] | None) -> list[str]:
    """Return the order of each edge by name; `"single"` where it is not known."""
    attribute = data.get("edge_attr")
    if bonds is None or not isinstance(attribute, Tensor):
        return ["single"] * int(data.num_edges)
    if attribute.dim() != 2 or attribute.size(1) != len(bonds):
        raise InputError(
            f"Expected `bonds` to name each column of `edge_attr` (got {len(bonds)} names for "
            f"shape {list(attribute.shape)}). Pass names such as single, double, triple, aromatic."
        )
    return [bonds[column] for column in attribute.argmax(dim=1).tolist()]


def single_bond(data: Data, bonds: Sequence[str] | None) -> Tensor | None:
    """Return the `edge_attr` of a single bond, `[1, F]`, None if no column stands for it."""
    if bonds is None or "single" not in bonds or not isinstance(data.get("edge_attr"), Tensor):
        return None
    first = next((i for i, order in enumerate(bond_orders(data, bonds)) if order == "single"), None)
    if first is not None:
        return data.edge_attr[[first]]
    attribute = torch.zeros_like(data.edge_attr[:1])
    attribute[0, list(bonds).index("single")] = 1
    return attribute


def _molecule(data: Data, atoms: Sequence[str], bonds: Sequence[str] | None) -> Any:
    try:
        from rdkit import Chem
    except ImportError as error:
        raise MissingExtraError("rdkit", "chem", "check bonds") from error
    mol = Chem.RWMol()
    for symbol in _symbols(data, atoms):
        mol.AddAtom(Chem.Atom(_atomic_number(symbol)))
    ends, orders = data.edge_index.t().tolist(), bond_orders(data, bonds)
    for (u, v), order in {(min(e), max(e)): o for e, o in zip(ends, orders, strict=True)}.items():
        if u != v:
            mol.AddBond(u, v, Chem.BondType.values[BOND_ORDERS.get(order, 1)])
    for bond in mol.GetBonds():
        if bond.GetBondType() == Chem.BondType.AROMATIC:
            for part in (bond, bond.GetBeginAtom(), bond.GetEndAtom()):
                part.SetIsAromatic(True)
    return mol


def _symbols(data: Data, atoms: Sequence[str]) -> list[str]:
    labels = data.get("node_label")
    if not isinstance(labels, Tensor):
        if len(atoms) == data.num_nodes:
            return list(atoms)
        raise InputError(
            f"Expected `atoms` to have an element for each of {data.num_nodes} nodes, or for each "
            f"`data.node_label` (got {len(atoms)}, and no `node_label`). Set `data.node_label`."
        )
    if labels.numel() and int(labels.max()) >= len(atoms):
        raise InputError(
            f"Expected `atoms` to name every `data.node_label` (got {len(atoms)} names for label "
            f"{int(labels.max())}). Pass one element for each."
        )
    return [atoms[label] for label in labels.tolist()]


def _atomic_number(symbol: str) -> int:
    """Return the number of an element; 0, which takes any bond, for an unknown one."""
    from rdkit import Chem

    table = Chem.GetPeriodicTable()
    known = {table.GetElementSymbol(number): number for number in range(1, 119)}
    return known.get(symbol, 0)


def _refused_atoms(mol: Any) -> set[int]:
    """Return the atoms that RDKit refuses."""
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():
        problems = Chem.DetectChemistryProblems(mol)
    return {problem.GetAtomIdx() for problem in problems if hasattr(problem, "GetAtomIdx")}
