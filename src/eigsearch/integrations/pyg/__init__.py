"""EiG-Search as an algorithm of `torch_geometric.explain.Explainer`."""

from eigsearch.integrations.pyg.algorithm import EiGSearch

__all__ = ["EiGSearch"]
