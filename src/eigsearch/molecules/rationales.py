"""Rationales: the chosen bonds of a molecule as fragments with attachment points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from eigsearch.errors import InputError, MissingExtraError
from eigsearch.explanation.explanation import SubgraphExplanation


@dataclass(frozen=True)
class Rationale:
    """A connected fragment of an explanation.

    Attributes:
        smiles: The fragment as SMILES; `*` stands where bonds that are not in it were cut.
        smarts: A pattern that finds its atoms and bonds in molecules.
        key: The canonical SMILES of its atoms and bonds, equal for equal fragments.
        atoms: The numbers of its atoms in the graph.
        bonds: The pairs of atoms that its bonds join.
    """

    smiles: str
    smarts: str
    key: str
    atoms: tuple[int, ...]
    bonds: tuple[tuple[int, int], ...]


def rationales(explanation: SubgraphExplanation) -> list[Rationale]:
    """Return the connected fragments of the chosen subgraph of a molecule, the largest first.

    Bonds of a ring that is cut are written as single and double bonds, whole rings as aromatic
    where they are.

    Args:
        explanation: An explanation whose `data` has `smiles`, or an RDKit molecule as `mol`.

    Raises:
        InputError: If the graph is not that molecule.

    Example:
        `[r.smiles for r in rationales(explanation)]` gives, say, `['*[N+](=O)[O-]']`.
    """
    mol = molecule_of(explanation)
    kept = _kept_bonds(explanation, mol)
    if not kept:
        return []
    found = [_rationale(mol, piece) for piece in _pieces(mol, kept)]
    return sorted(found, key=lambda fragment: (-len(fragment.bonds), fragment.atoms))


def molecule_of(explanation: SubgraphExplanation) -> Any:
    """Return the RDKit molecule that the graph of an explanation is."""
    try:
        from rdkit import Chem  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("rdkit", "chem", "write fragments of molecules") from error
    from eigsearch.visualization.molecule import rdkit_molecule

    mol = rdkit_molecule(explanation.data)
    if mol is None:
        raise InputError(
            "Expected the graph to be a molecule with `smiles` whose atoms and bonds are its nodes "
            f"and edges (got {explanation.data}). Set `data.smiles`, or read molecules with "
            "eigsearch.datasets.load_molecules."
        )
    return mol


def _kept_bonds(explanation: SubgraphExplanation, mol: Any) -> set[int]:
    ends = explanation.data.edge_index[:, explanation.edge_mask].t().tolist()
    return {mol.GetBondBetweenAtoms(u, v).GetIdx() for u, v in ends if u != v}


def _pieces(mol: Any, kept: set[int]) -> list[set[int]]:
    """Return the kept bonds by connected piece."""
    ends = {b: _ends(mol, b) for b in sorted(kept)}
    pieces: list[tuple[set[int], set[int]]] = []
    for bond, pair in ends.items():
        touching = [piece for piece in pieces if piece[1] & set(pair)]
        pieces = [piece for piece in pieces if piece not in touching]
        bonds = {bond}.union(*(piece[0] for piece in touching))
        pieces.append((bonds, set(pair).union(*(piece[1] for piece in touching))))
    return [bonds for bonds, _ in pieces]


def _rationale(mol: Any, bonds: set[int]) -> Rationale:
    from rdkit import Chem

    numbers = sorted(bonds)
    atoms = sorted({atom for bond in numbers for atom in _ends(mol, bond)})
    return Rationale(
        smiles=_with_attachment_points(mol, bonds, atoms[0]),
        smarts=Chem.MolFragmentToSmarts(mol, atomsToUse=atoms, bondsToUse=numbers),
        key=_key(mol, atoms, numbers),
        atoms=tuple(atoms),
        bonds=tuple(_ends(mol, bond) for bond in numbers),
    )


def _key(mol: Any, atoms: list[int], bonds: list[int]) -> str:
    """Return the same text for fragments of equal elements, charges and bonds.

    Whether an atom is aromatic shows in its bonds, and outside of a ring it does not matter.
    """
    from rdkit import Chem

    symbols = [f"[{a.GetSymbol()}{a.GetFormalCharge() or ''}]" for a in mol.GetAtoms()]
    return Chem.MolFragmentToSmiles(
        mol,
        atomsToUse=atoms,
        bondsToUse=bonds,
        atomSymbols=symbols,
        allBondsExplicit=True,
        isomericSmiles=False,
    )


def _with_attachment_points(mol: Any, bonds: set[int], atom: int) -> str:
    """Return the fragment that holds an atom after all bonds but `bonds` are cut."""
    from rdkit import Chem, rdBase

    mol = Chem.Mol(mol)
    Chem.Kekulize(mol, clearAromaticFlags=True)
    cut = [bond.GetIdx() for bond in mol.GetBonds() if bond.GetIdx() not in bonds]
    if cut:
        mol = Chem.FragmentOnBonds(mol, cut, dummyLabels=[(0, 0)] * len(cut))
    groups = Chem.GetMolFrags(mol)
    place = next(number for number, group in enumerate(groups) if atom in group)
    fragment = Chem.GetMolFrags(mol, asMols=True, sanitizeFrags=False)[place]
    with rdBase.BlockLogs():
        Chem.SanitizeMol(fragment, catchErrors=True)
    return Chem.MolToSmiles(fragment)


def _ends(mol: Any, bond: int) -> tuple[int, int]:
    found = mol.GetBondWithIdx(bond)
    return found.GetBeginAtomIdx(), found.GetEndAtomIdx()
