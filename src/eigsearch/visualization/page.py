"""Render a template, its scripts and its data as one self-contained HTML file."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from eigsearch._utils.atomic_files import write_atomic
from eigsearch.visualization.colors import Colour, css_variables

_HERE = Path(__file__).parent
VIEW_SCRIPTS = ("elements", "picture", "curve", "ranking", "explanation")


@dataclass(frozen=True)
class PageFiles:
    """The files that a page is made of.

    Attributes:
        template: Name of the template.
        scripts: Names of the scripts, in the order in which they run.
        folders: Where `templates/` and `static/` are besides this package.
        style: Names of style sheets.
        policy: Directives of the content security policy beside the script and the style.
    """

    template: str
    scripts: tuple[str, ...]
    folders: tuple[Path, ...] = ()
    style: tuple[str, ...] = ("style",)
    policy: str = ""


_PAGES = {
    "single": (*VIEW_SCRIPTS, "single"),
    "gallery": (*VIEW_SCRIPTS, "selection", "histogram", "grid", "piece", "gallery"),
    "comparison": (*VIEW_SCRIPTS, "comparison", "comparison_page"),
}


def render(
    name: str, title: str, data: dict[str, Any], colours: Mapping[str, Colour] | None = None
) -> str:
    """Return a self-contained page with `data` embedded as JSON.

    Args:
        name: `"single"`, `"gallery"` or `"comparison"`.
        title: Title of the page.
        data: JSON-compatible data of the page.
        colours: CSS variables in addition to the palette.
    """
    return render_files(PageFiles(f"{name}.html", _PAGES[name]), title, data, colours)


def render_files(
    files: PageFiles,
    title: str,
    data: dict[str, Any],
    colours: Mapping[str, Colour] | None = None,
) -> str:
    """Return a page: its template with its scripts, and `data` embedded as JSON.

    The content security policy allows this one script and no request that `files` does not allow,
    so that nothing in the data can run even if it slips through the escaping.
    """
    code = _script(files)
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    return (
        _environment(files.folders)
        .get_template(files.template)
        .render(
            title=title,
            data=data,
            script=Markup(code),
            script_hash=digest,
            policy=Markup(f"; {files.policy}" if files.policy else ""),
            style=Markup("\n".join(_read(files, f"{name}.css") for name in files.style)),
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
def _environment(folders: tuple[Path, ...]) -> Environment:
    environment = Environment(
        loader=FileSystemLoader([folder / "templates" for folder in (*folders, _HERE)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    return environment


@cache
def _script(files: PageFiles) -> str:
    """Return the scripts of a page in a function scope."""
    parts = [_read(files, f"{name}.js") for name in files.scripts]
    return '(() => {\n"use strict";\n' + "\n".join(parts) + "\n})();"


def _read(files: PageFiles, name: str) -> str:
    paths = (folder / "static" / name for folder in (*files.folders, _HERE))
    return next(path for path in paths if path.exists()).read_text("utf-8")
