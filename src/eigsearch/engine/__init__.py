"""Engines: the one place that calls the model and turns keep-rows into scores."""

from eigsearch.engine.batched import BatchedEngine
from eigsearch.engine.choose import ENGINES, ChoosingEngine, make_engine
from eigsearch.engine.request import Request

__all__ = ["ENGINES", "BatchedEngine", "ChoosingEngine", "Request", "make_engine"]
