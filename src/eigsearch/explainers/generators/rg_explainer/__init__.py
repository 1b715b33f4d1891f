"""RG-Explainer, the sets that it grows and what they are worth."""

from eigsearch.explainers.generators.rg_explainer.explainer import RGExplainer

__all__ = ["RGExplainer"]
