"""Render the page of the studio: the view of static pages, and the editor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from eigsearch.app.jobs import method_rows
from eigsearch.app.session import Session
from eigsearch.visualization.explanation import shared
from eigsearch.visualization.page import VIEW_SCRIPTS, PageFiles, render_files

_HERE = Path(__file__).parent
_SCRIPTS = (
    *("comparison", "piece"),
    *("studio_api", "studio_state", "studio_table", "studio_motifs", "studio_canvas"),
    *("studio_prediction", "studio_node", "studio_compare", "studio_export", "studio_graph"),
    "studio",
)
FILES = PageFiles(
    template="studio.html",
    scripts=(*VIEW_SCRIPTS, *_SCRIPTS),
    folders=(_HERE,),
    style=("style", "studio"),
    policy="connect-src 'self'; img-src data: blob:",
)


def studio_page(session: Session) -> str:
    """Return the HTML page of a session."""
    info = page_info(session)
    return render_files(FILES, f"{info['title']} · Studio", info)


def page_info(session: Session) -> dict[str, Any]:
    """Return the information that the page needs at its start."""
    return {
        "title": session.names.title or "Your data",
        "model": type(session.model).__name__,
        "level": session.level,
        "count": session.count,
        "molecules": session.names.are_elements or _has_smiles(session),
        "unit": session.names.unit,
        "output_names": list(session.names.output_names or ()),
        "typed": session.items.is_typed,
        "methods": method_rows(session.level, session.items.is_typed),
        **shared(list(session.names.class_names or ())),
    }


def _has_smiles(session: Session) -> bool:
    graph = session.graph(0).to_dict()
    return isinstance(graph.get("smiles"), str) or graph.get("mol") is not None
