"""Explainers that remove or perturb parts of the graph."""
