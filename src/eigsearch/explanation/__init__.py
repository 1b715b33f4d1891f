"""Step 7: explanations, the objects that come back."""

from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.explanation.failure import FailedExplanation

__all__ = ["FailedExplanation", "SubgraphExplanation"]
