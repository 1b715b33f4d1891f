"""GraphMask, and the gates that it trains."""

from eigsearch.explainers.graphmask.explainer import GraphMask

__all__ = ["GraphMask"]
