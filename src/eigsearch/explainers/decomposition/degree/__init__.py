"""DEGREE, and the decomposition of tensors that it rests on."""

from eigsearch.explainers.decomposition.degree.explainer import DEGREE, group_scores

__all__ = ["DEGREE", "group_scores"]
