"""Data sets whose true explanations are known, and molecules: one registry, one object."""

from eigsearch.datasets.dataset import GraphDataset
from eigsearch.datasets.file_io import load_file, save_file
from eigsearch.datasets.molecule_files import FEATURIZERS, load_molecules
from eigsearch.datasets.registry import DatasetInfo, generate, info, load, names

__all__ = [
    "FEATURIZERS",
    "DatasetInfo",
    "GraphDataset",
    "generate",
    "info",
    "load",
    "load_file",
    "load_molecules",
    "names",
    "save_file",
]
