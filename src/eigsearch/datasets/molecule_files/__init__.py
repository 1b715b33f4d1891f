"""Files of molecules: how they are opened, featurized and labelled."""

from eigsearch.datasets.molecule_files.featurizers import FEATURIZERS
from eigsearch.datasets.molecule_files.load import load_molecules
from eigsearch.datasets.molecule_files.source import SmilesSource

__all__ = ["FEATURIZERS", "SmilesSource", "load_molecules"]
