"""Step 7: what comes back."""

from eigsearch.explanation.explanation import SubgraphExplanation

__all__ = ["SubgraphExplanation"]
