"""EiG-Search and counterfactuals as algorithms of `torch_geometric.explain.Explainer`."""

from eigsearch.integrations.pyg.algorithm import EiGSearch
from eigsearch.integrations.pyg.counterfactual import CounterfactualSearch

__all__ = ["CounterfactualSearch", "EiGSearch"]
