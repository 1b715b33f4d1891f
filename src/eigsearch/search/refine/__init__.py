"""Refine and Anchored: hill climbing from the sweep's answer."""

from eigsearch.search.refine.climb import Anchored, Refine

__all__ = ["Anchored", "Refine"]
