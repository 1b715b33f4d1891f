"""Refine and Anchored: hill climbing from the sweep's answer."""

from eigsearch.search.refine.options import Anchored, Refine

__all__ = ["Anchored", "Refine"]
