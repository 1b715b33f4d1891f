"""Explainers from cooperative game theory."""
