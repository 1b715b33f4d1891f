"""RCExplainer, and the decision boundaries that it learns from."""

from eigsearch.explainers.learned_masks.rcexplainer.explainer import RCExplainer

__all__ = ["RCExplainer"]
