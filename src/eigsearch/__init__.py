"""Which part of the graph made the GNN say so? EiG-Search for PyTorch Geometric."""

from eigsearch.explain import explain, explain_dataset
from eigsearch.explanation import SubgraphExplanation
from eigsearch.options import Options
from eigsearch.pyg import EiGSearch

__version__ = "0.1.0"

__all__ = ["EiGSearch", "Options", "SubgraphExplanation", "explain", "explain_dataset"]
