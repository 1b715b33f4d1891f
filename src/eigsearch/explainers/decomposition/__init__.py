"""Explainers that decompose the forward pass or read attention."""
