"""A registry of functions that write explanations, imported on first use."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from eigsearch.errors import InputError

# A suffix for files, "axes" for matplotlib, "notebook" for a page inside of another,
# "mimebundle" for whatever a notebook shows best.
_WRITERS = {
    ".html": "eigsearch.visualization:save_explanation",
    ".svg": "eigsearch.visualization:save_figure",
    ".png": "eigsearch.visualization:save_figure",
    ".pdf": "eigsearch.visualization:save_figure",
    ".graphml": "eigsearch.explanation.graph_export:save_graphml",
    ".cyjs": "eigsearch.explanation.graph_export:save_cytoscape",
    "axes": "eigsearch.visualization:plot",
    "notebook": "eigsearch.visualization:explanation_frame",
    "mimebundle": "eigsearch.app.notebook:mimebundle",
}


def register_writer(form: str, function: str) -> None:
    """Set the function that writes explanations in a form.

    Args:
        form: A file suffix such as `".html"`, or `"axes"` or `"notebook"`.
        function: Where the function is, as `"package.module:name"`; imported on first use.
    """
    module, _, name = function.partition(":")
    if not module or not name:
        raise InputError(
            f"Expected `function` to be 'package.module:name' (got {function!r}). "
            "Name the module and the function in it."
        )
    _WRITERS[form] = function


def find_writer(form: str) -> Callable[..., Any]:
    """Return the function that writes explanations in a form.

    Raises:
        InputError: If no function is registered for it.
    """
    if form not in _WRITERS:
        suffixes = [".json", *(key for key in _WRITERS if key.startswith("."))]
        raise InputError(
            f"Expected a path that ends in {', '.join(suffixes[:-1])} or {suffixes[-1]} "
            f"(got {form!r}). Choose another suffix."
        )
    module, _, name = _WRITERS[form].partition(":")
    return getattr(import_module(module), name)
