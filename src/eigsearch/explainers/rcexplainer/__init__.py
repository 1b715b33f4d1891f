"""RCExplainer, and the decision boundaries that it learns from."""

from eigsearch.explainers.rcexplainer.explainer import RCExplainer

__all__ = ["RCExplainer"]
