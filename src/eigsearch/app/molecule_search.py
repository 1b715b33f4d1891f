"""Search molecules by a SMILES or SMARTS pattern."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch_geometric.data import Data

from eigsearch.errors import InputError, MissingExtraError
from eigsearch.visualization import Names
from eigsearch.visualization.molecule import Molecule, read_molecule

LONGEST_PATTERN = 400  # characters


class MoleculePattern:
    """A substructure to search for.

    Molecules that know their bonds from RDKit are matched exactly. Where a data set holds elements
    only, any bond matches: `c1ccccc1` is then every ring of six carbons.

    Raises:
        InputError: If the text is neither SMARTS nor SMILES.
        MissingExtraError: If RDKit is not installed.
    """

    def __init__(self, text: str) -> None:
        chem = _rdkit()
        with _quiet():
            pattern = chem.MolFromSmarts(text) if len(text) <= LONGEST_PATTERN else None
        if pattern is None or not pattern.GetNumAtoms():
            raise InputError(
                f"Expected a SMILES or SMARTS pattern (got {text[:60]!r}). "
                "Write it as c1ccccc1 or [N+](=O)[O-]."
            )
        self._exact = pattern
        self._elements = _elements_only(pattern)

    def matches(self, data: Data, names: Names) -> bool:
        """Return whether a graph is a molecule with the substructure."""
        mol = _exact_mol(data)
        if mol is not None:
            return mol.HasSubstructMatch(self._exact)
        molecule = read_molecule(data, names)
        return molecule is not None and _skeleton(molecule).HasSubstructMatch(self._elements)

    def search(self, graphs: Iterable[Data], names: Names) -> list[int]:
        """Return the positions of the graphs that match."""
        return [position for position, data in enumerate(graphs) if self.matches(data, names)]


def _rdkit() -> Any:
    try:
        from rdkit import Chem
    except ImportError:
        raise MissingExtraError("rdkit", "chem", "search molecules") from None
    return Chem


def _quiet() -> Any:
    """Return a context in which RDKit does not log: an error is told in one sentence."""
    from rdkit import rdBase

    return rdBase.BlockLogs()


def _exact_mol(data: Data) -> Any:
    chem = _rdkit()
    if isinstance(data.get("mol"), chem.Mol):
        return data.mol
    if not isinstance(data.get("smiles"), str):
        return None
    with _quiet():
        return chem.MolFromSmiles(data.smiles)


def _elements_only(pattern: Any) -> Any:
    """Return a pattern with the same elements and any bonds; an unknown element matches any."""
    chem = _rdkit()
    query = chem.RWMol()
    for atom in pattern.GetAtoms():
        number = atom.GetAtomicNum()
        query.AddAtom(chem.AtomFromSmarts(f"[#{number}]" if number else "*"))
    for bond in pattern.GetBonds():
        query.AddBond(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx(), chem.BondType.SINGLE)
        added = query.GetBondBetweenAtoms(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx())
        query.ReplaceBond(added.GetIdx(), chem.BondFromSmarts("~"))
    return query.GetMol()


def _skeleton(molecule: Molecule) -> Any:
    chem = _rdkit()
    mol = chem.RWMol()
    for symbol in molecule.symbols:
        mol.AddAtom(_atom(chem, symbol))
    for low, high in molecule.orders:
        if low != high:
            mol.AddBond(low, high, chem.BondType.SINGLE)
    return mol


def _atom(chem: Any, symbol: str) -> Any:
    try:
        return chem.Atom(symbol)
    except RuntimeError:  # a label that is no element
        return chem.Atom(0)
