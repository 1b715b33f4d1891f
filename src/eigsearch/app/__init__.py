"""Studio: a local web app that explains predictions while a graph is edited."""

from eigsearch.app.edits import EditedGraph, GraphEdits
from eigsearch.app.launch import Studio, studio
from eigsearch.app.notebook import widget

__all__ = ["EditedGraph", "GraphEdits", "Studio", "studio", "widget"]
