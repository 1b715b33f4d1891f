"""Render a template, its scripts and its data as one self-contained HTML file."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from eigsearch._utils.atomic_files import write_atomic
from eigsearch.visualization.colors import Colour, css_variables

_STATIC = Path(__file__).parent / "static"
_VIEW = ("elements", "picture", "curve", "ranking", "explanation")
_SCRIPTS = {
    "single": (*_VIEW, "single"),
    "gallery": (*_VIEW, "selection", "histogram", "grid", "gallery"),
    "comparison": (*_VIEW, "comparison"),
}


def render(
    name: str, title: str, data: dict[str, Any], colours: Mapping[str, Colour] | None = None
) -> str:
    """Return a page: its template with its scripts, and `data` embedded as JSON.

    The content security policy allows this one script and no request, so that nothing in the data
    can run even if it slips through the escaping.

    Args:
        name: Name of the template.
        title: Title of the page.
        data: JSON-compatible data of the page.
        colours: CSS variables in addition to the palette.
    """
    code = _script(name)
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    return (
        _environment()
        .get_template(f"{name}.html")
        .render(
            title=title,
            data=data,
            script=Markup(code),
            script_hash=digest,
            style=Markup((_STATIC / "style.css").read_text("utf-8")),
            light=css_variables("light", colours),
            dark=css_variables("dark", colours),
        )
    )


def save_page(page: str, path: str | Path) -> Path:
    """Write a page to a file and return its path."""
    path = Path(path)
    write_atomic(path, page.encode())
    return path


def framed(page: str, height: int) -> str:
    """Return a page in a sandboxed frame for notebooks."""
    return (
        f'<iframe srcdoc="{escape(page, quote=True)}" sandbox="allow-scripts" '
        f'style="width:100%;height:{height}px;border:0;color-scheme:light dark"></iframe>'
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("eigsearch.visualization"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    return environment


@cache
def _script(name: str) -> str:
    """Return the scripts of a page in a function scope."""
    parts = [(_STATIC / f"{part}.js").read_text("utf-8") for part in _SCRIPTS[name]]
    return '(() => {\n"use strict";\n' + "\n".join(parts) + "\n})();"
