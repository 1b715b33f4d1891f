"""GraphMask, and the gates that it trains."""

from eigsearch.explainers.learned_masks.graphmask.explainer import GraphMask

__all__ = ["GraphMask"]
