"""Relevance propagation as rule sets of one linearised forward pass."""
