"""Data sets whose true explanations are known, and molecules: one registry, one object."""

from eigsearch.datasets.dataset import GraphDataset
from eigsearch.datasets.registry import DatasetInfo, generate, info, load, names

__all__ = ["DatasetInfo", "GraphDataset", "generate", "info", "load", "names"]
