"""Every other explainer, one file each, under one protocol."""

from eigsearch.explainers.base import Card, Method
from eigsearch.explainers.registry import get, names, table

__all__ = ["Card", "Method", "get", "names", "table"]
