"""Engines: the one place that calls the model and turns keep-rows into scores."""

from eigsearch.engine.batched import BatchedEngine
from eigsearch.engine.choose import ChoosingEngine, EngineName, make_engine
from eigsearch.engine.request import Request

__all__ = ["BatchedEngine", "ChoosingEngine", "EngineName", "Request", "make_engine"]
