"""Gem: the distillation of edges that a prediction needs, and the autoencoder that learns them."""

from eigsearch.explainers.learned_masks.gem.explainer import Gem

__all__ = ["Gem"]
