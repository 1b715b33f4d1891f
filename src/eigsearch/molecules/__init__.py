"""Explanations of molecules in the language of chemists: fragments, SMARTS, tables."""

from eigsearch._utils.table_files import save_table
from eigsearch.molecules.rationales import Rationale, rationales
from eigsearch.molecules.substructures import substructures

__all__ = ["Rationale", "rationales", "save_table", "substructures"]
