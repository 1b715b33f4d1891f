"""Define the colours of roles, classes and atoms, and the line style of each explainer.

The hues are those of Okabe and Ito (2008), which colour-blind readers can distinguish; they are
lighter on a dark background. Some hues are close in thin lines, and there are more explainers than
hues: the dash distinguishes these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING
from zlib import crc32

from eigsearch.explainers import registry as explainers
from eigsearch.search import SEARCHES

if TYPE_CHECKING:
    from eigsearch.explainers import Card


@dataclass(frozen=True)
class Colour:
    """A colour on a light and on a dark background."""

    light: str
    dark: str


@dataclass(frozen=True)
class Style:
    """Colour and SVG dash pattern (empty for a solid line) of an explainer's curve."""

    colour: Colour
    dash: str = ""


VERMILION = Colour("#d55e00", "#ff8a3d")
BLUE = Colour("#0072b2", "#4fb0ea")
GREEN = Colour("#00805d", "#2fc79b")
PURPLE = Colour("#b0548a", "#e79ac7")
ORANGE = Colour("#c98500", "#f0b429")
SKY = Colour("#3a94c9", "#8accf2")
OLIVE = Colour("#8f8300", "#e3d94e")
GREY = Colour("#6b7280", "#9aa3b2")

ROLES = {
    "for": VERMILION,  # edges with a positive score
    "against": BLUE,  # edges with a negative score
    "chosen": Colour("#ffd9a8", "#6b4413"),  # background of the chosen subgraph
    "plus": BLUE,
    "minus": PURPLE,
    "gain": GREEN,
}
CLASSES = (VERMILION, BLUE, GREEN, PURPLE, ORANGE, SKY, OLIVE, GREY)
ATOMS = {
    "N": Colour("#1d4ed8", "#7ea6ff"),
    "O": Colour("#c81e1e", "#ff7b72"),
    "S": Colour("#8a6d00", "#e2c044"),
    "P": Colour("#b45309", "#f5a35c"),
    "F": Colour("#15803d", "#63d68a"),
    "Cl": Colour("#15803d", "#63d68a"),
    "Br": Colour("#7f1d1d", "#e58e7a"),
    "I": Colour("#6d28d9", "#b79bff"),
    "H": GREY,
}

HUES = {
    "vermilion": VERMILION,
    "blue": BLUE,
    "green": GREEN,
    "purple": PURPLE,
    "orange": ORANGE,
    "sky": SKY,
    "olive": OLIVE,
    "grey": GREY,
}
DASHES = {  # as SVG writes them; no dots, which mean published values in a report
    "solid": "",
    "dashed": "6 3",
    "dashdot": "8 3 2 3",
    "longdash": "14 4",
    "dashdotdot": "8 3 2 3 2 3",
    "longdashdot": "14 4 2 4",
}


def method_style(name: str) -> Style:
    """Return the style of a method, by its registered name or the name on its card.

    Only EiG-Search is vermilion, its other searches dashed. An unknown name gets a style by its
    hash.

    >>> method_style("GNNExplainer") == method_style("gnn_explainer")
    True
    """
    normalized = _normalized(name)
    if normalized.startswith("eig"):
        return Style(VERMILION, _search_dash(normalized))
    card = _card(normalized)
    if card is not None:
        return Style(HUES[card.color], DASHES[card.dash])
    styles = [Style(hue, dash) for hue in list(HUES.values())[1:] for dash in DASHES.values()]
    return styles[crc32(normalized.encode()) % len(styles)]


def _search_dash(normalized: str) -> str:
    """Return the dashes of a search of EiG-Search; none of the usual one."""
    dashes = dict(zip(SEARCHES, DASHES.values(), strict=False))
    return dashes.get(normalized.removeprefix("eigsearch"), "")


@cache
def _card(normalized: str) -> Card | None:
    """Return the card of an explainer; only that one is imported if the name is registered."""
    names = explainers.names()
    registered = [name for name in names if _normalized(name) == normalized]
    for name in registered or names:
        card = explainers.method_class(name).card
        if registered or _normalized(card.name) == normalized:
            return card
    return None


def _normalized(name: str) -> str:
    return "".join(letter for letter in name.lower().replace("×", "x") if letter.isalnum())


def css_variables(theme: str, extra: Mapping[str, Colour] | None = None) -> dict[str, str]:
    """Return the palette as CSS variables for the `"light"` or the `"dark"` theme."""
    named = {
        **ROLES,
        **{f"class-{index}": colour for index, colour in enumerate(CLASSES)},
        **{f"atom-{symbol}": colour for symbol, colour in ATOMS.items()},
        **(extra or {}),
    }
    return {f"--{name}": getattr(colour, theme) for name, colour in named.items()}
