"""Step 4: candidates in, scores out. Nothing else runs the model on candidates."""

from eigsearch.engines.batched.engine import BatchedEngine
from eigsearch.engines.evaluator import ENGINES, AutoEvaluator
from eigsearch.engines.incremental import IncrementalEngine
from eigsearch.engines.request import Request

__all__ = ["ENGINES", "AutoEvaluator", "BatchedEngine", "IncrementalEngine", "Request"]
