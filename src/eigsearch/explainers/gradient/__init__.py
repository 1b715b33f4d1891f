"""Explainers from gradients of the prediction."""
