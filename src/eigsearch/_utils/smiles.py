"""Read SMILES with RDKit, and write them in an order of atoms that can be read back."""

from __future__ import annotations

from typing import Any

from eigsearch.errors import InputError, MissingExtraError


def read_smiles(text: str, what: str = "the text of a molecule") -> Any:
    """Return the RDKit molecule that SMILES describe, its atoms in the order of the text.

    Args:
        text: The SMILES.
        what: What a message calls it.
    """
    try:
        from rdkit import Chem, rdBase
    except ImportError as error:
        raise MissingExtraError("rdkit", "chem", "read SMILES") from error
    with rdBase.BlockLogs():  # what RDKit refuses gets a sentence of ours
        mol = Chem.MolFromSmiles(text) if isinstance(text, str) and text.strip() else None
    if mol is None or mol.GetNumAtoms() == 0:
        raise InputError(f"Expected {what} to be SMILES (got {text!r}). Correct it.")
    return mol


def readings(smiles: str) -> list[Any]:
    """Return the molecules that SMILES may stand for: without, with written, with all hydrogens."""
    from rdkit import Chem, rdBase

    keep_hydrogens: Any = Chem.SmilesParserParams()
    keep_hydrogens.removeHs = False
    with rdBase.BlockLogs():  # for SMILES that cannot be read there is no molecule
        implicit = Chem.MolFromSmiles(smiles)
        written = Chem.MolFromSmiles(smiles, keep_hydrogens)
    found = [implicit, written, implicit and Chem.AddHs(implicit)]
    return [mol for mol in found if mol is not None]


def in_smiles_order(mol: Any) -> tuple[str, list[int]]:
    """Return SMILES of a molecule, and the molecule's number of each atom in their order.

    A graph whose atoms are in this order is the one that the SMILES give when they are read.
    """
    from rdkit import Chem

    smiles = Chem.MolToSmiles(mol)
    order = mol.GetPropsAsDict(True, True).get("_smilesAtomOutputOrder", ())
    return smiles, [int(number) for number in order]
