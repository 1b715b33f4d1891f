"""Engines: the one place that calls the model and turns keep-rows into scores."""

from eigsearch.engine.batched import BatchedEngine
from eigsearch.engine.request import Request

__all__ = ["BatchedEngine", "Request"]
