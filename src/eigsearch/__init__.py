"""Which part of the graph made the GNN say so? EiG-Search for PyTorch Geometric."""

__version__ = "0.1.0"
