"""The palette: one colour for each role and class, one colour and dash for each method.

The hues are those of Okabe and Ito (2008), which the colour-blind can tell apart; on a dark ground
they are lifted. In thin lines some are near, and there are more methods than hues: the dash tells
these apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from zlib import crc32


@dataclass(frozen=True)
class Colour:
    """A colour as it is on a light and on a dark ground."""

    light: str
    dark: str


@dataclass(frozen=True)
class Style:
    """How a method's line is drawn: its colour, and its dash as SVG writes it (none if empty)."""

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
    "for": VERMILION,  # an edge that speaks for the target
    "against": BLUE,  # an edge that speaks against it
    "chosen": Colour("#ffd9a8", "#6b4413"),  # the ground under the chosen subgraph
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

_DASHES = ("", "6 3", "8 3 2 3")  # no dots, which mean published values in a report
# The methods of each hue, one per dash; None where nobody needs it. Those that are often compared
# differ in dash where some eyes confuse their hues.
_METHODS = {
    BLUE: ("gnnexplainer", "gstarx", "sa"),
    GREEN: ("gradcam", "degree", "guidedbackprop"),
    PURPLE: ("grad", "pgmexplainer", "ig"),
    SKY: ("att", "occlusion", "inputxgradient"),
    ORANGE: (None, "pgexplainer", "rgexplainer"),
    OLIVE: (None, "deeplift", "subgraphx"),
    GREY: ("rcexplainer", "random", "graphmask"),
}
_STYLES = {
    name: Style(hue, dash)
    for hue, names in _METHODS.items()
    for name, dash in zip(names, _DASHES, strict=True)
    if name is not None
}
_SHORT = {
    "integratedgradients": "ig",
    "sensitivity": "sa",
    "attention": "att",
    "guidedbp": "guidedbackprop",
}


def method_style(name: str) -> Style:
    """Return the style of a method, by any spelling of its name.

    EiG-Search alone is vermilion. A name that is not known has a fixed style as well.

    >>> method_style("GNNExplainer") == method_style("gnn_explainer")
    True
    """
    plain = "".join(letter for letter in name.lower().replace("×", "x") if letter.isalnum())
    plain = _SHORT.get(plain, plain)
    if plain.startswith("eig"):
        return Style(VERMILION)
    return _STYLES.get(plain) or [*_STYLES.values()][crc32(plain.encode()) % len(_STYLES)]


def css_variables(ground: str, more: Mapping[str, Colour] | None = None) -> dict[str, str]:
    """Return the CSS variables of the palette for a `"light"` or a `"dark"` ground."""
    named = {
        **ROLES,
        **{f"class-{index}": colour for index, colour in enumerate(CLASSES)},
        **{f"atom-{symbol}": colour for symbol, colour in ATOMS.items()},
        **(more or {}),
    }
    return {f"--{name}": getattr(colour, ground) for name, colour in named.items()}
