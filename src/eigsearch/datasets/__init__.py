"""Data sets whose true explanations are known, and molecules: one registry, one object."""

from eigsearch.datasets.dataset import GraphDataset
from eigsearch.datasets.file_io import load_file, save_file
from eigsearch.datasets.registry import DatasetInfo, generate, info, load, names

__all__ = [
    "DatasetInfo",
    "GraphDataset",
    "generate",
    "info",
    "load",
    "load_file",
    "names",
    "save_file",
]
