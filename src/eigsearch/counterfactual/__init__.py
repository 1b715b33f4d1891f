"""Counterfactuals: the smallest change of edges that changes a prediction."""
