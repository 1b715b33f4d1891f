"""Explain models of chemprop 2: bonds that a property of a molecule rests on."""

from eigsearch.integrations.chemprop.api import explain, explain_dataset
from eigsearch.integrations.chemprop.graphs import to_graphs
from eigsearch.integrations.chemprop.model import ChempropModel

__all__ = ["ChempropModel", "explain", "explain_dataset", "to_graphs"]
