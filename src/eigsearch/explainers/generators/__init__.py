"""Explainers that generate subgraphs with a trained policy."""
