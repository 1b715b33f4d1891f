"""Explainers that learn a mask by gradient descent."""
