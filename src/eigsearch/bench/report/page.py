"""The page of a report: one HTML file that needs nothing else, light and dark."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined, Template, select_autoescape

from eigsearch.bench.report.figure import ReportItem

_KINDS = {"svg": "svg+xml", "png": "png"}


class Picture(NamedTuple):
    """A figure as the bytes of a file of some form."""

    form: str
    content: bytes

    def address(self) -> str:
        """Return an address that holds the picture itself."""
        code = base64.b64encode(self.content).decode()
        return f"data:image/{_KINDS[self.form]};base64,{code}"


def page(
    report_items: Sequence[ReportItem],
    pictures: Mapping[str, Mapping[str, Picture]],
    conditions: Mapping[str, str],
) -> str:
    """Return the page; `pictures` has each figure as it is on a light and on a dark ground."""
    shown = {
        name: {ground: picture.address() for ground, picture in grounds.items()}
        for name, grounds in pictures.items()
    }
    return template("report.html").render(
        report_items=report_items, pictures=shown, conditions=conditions
    )


@cache
def template(name: str) -> Template:
    """Return a template of this package; what goes into HTML is escaped."""
    environment = Environment(
        loader=PackageLoader("eigsearch.bench"),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)
