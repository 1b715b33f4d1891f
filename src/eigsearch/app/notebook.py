"""An explanation as a notebook widget whose size Python reads and sets."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eigsearch.errors import MissingExtraError
from eigsearch.visualization import Names, explanation_frame, explanation_page

if TYPE_CHECKING:
    from eigsearch.explanation import SubgraphExplanation

_SCRIPT = Path(__file__).parent / "static" / "widget.js"


def widget(explanation: SubgraphExplanation, names: Names | None = None) -> Any:
    """Return an explanation as a widget for Jupyter, VS Code and marimo.

    The widget has a trait `size`: what the slider shows. Setting it moves the slider; `observe` it
    to follow the slider.

    Args:
        explanation: The explanation to show.
        names: Names of classes, nodes and edges.

    Raises:
        MissingExtraError: If anywidget is not installed.
    """
    if find_spec("anywidget") is None:
        raise MissingExtraError("anywidget", "notebook", "show a widget")
    import anywidget
    import traitlets

    class ExplanationWidget(anywidget.AnyWidget):
        """The page of one explanation in a frame."""

        _esm = _SCRIPT.read_text("utf-8")
        page = traitlets.Unicode().tag(sync=True)
        size = traitlets.Int().tag(sync=True)

    return ExplanationWidget(page=explanation_page(explanation, names), size=explanation.size)


def mimebundle(explanation: SubgraphExplanation) -> Any:
    """Return an explanation as notebooks display it: a widget if anywidget is there, and a page.

    A notebook that cannot show widgets, or is read without a kernel, shows the page.
    """
    page = {"text/plain": repr(explanation), "text/html": explanation_frame(explanation)}
    if find_spec("anywidget") is None or not _in_kernel():
        return page
    bundle = widget(explanation)._repr_mimebundle_()
    content = bundle[0] if isinstance(bundle, tuple) else bundle
    return {**(content or {}), **page}


def _in_kernel() -> bool:
    """Return whether a notebook's kernel runs this code, with which a widget could talk."""
    if find_spec("IPython") is None:
        return False
    from IPython.core.getipython import get_ipython

    return getattr(get_ipython(), "kernel", None) is not None
