"""Step 7: what comes back."""

from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.explanation.failure import FailedExplanation

__all__ = ["FailedExplanation", "SubgraphExplanation"]
