from itertools import combinations

import numpy as np
import pytest

from eigsearch.explainers import registry
from eigsearch.search import SEARCHES
from eigsearch.visualization.colors import ATOMS, CLASSES, ROLES, css_variables, method_style

GROUNDS = {"light": "#ffffff", "dark": "#1a1e24"}
TOGETHER = (
    *("eig_search", "gradcam", "ig", "gnnexplainer", "pgexplainer", "subgraphx", "occlusion"),
    "random",
)
# What is left of linear RGB (Machado et al. 2009, severity 1).
EYES = {
    "most": np.eye(3),
    "protanopic": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopic": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
}
TO_XYZ = [[0.4339, 0.3762, 0.1899], [0.2126, 0.7152, 0.0722], [0.0177, 0.1095, 0.8728]]


def linear(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]


def luminance(colour):
    red, green, blue = linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def seen(colour, eyes):
    """Return a colour in CIELAB, as some eyes see it."""
    left = np.clip(np.array(EYES[eyes]) @ linear(colour), 0, 1)
    x, y, z = np.cbrt(np.array(TO_XYZ) @ left)  # these hues are far from the linear, darkest part
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("ground", GROUNDS)
def test_lines_and_letters_stand_out_from_the_ground(ground):
    lines = [colour for role, colour in ROLES.items() if role != "chosen"]
    for colour in (*lines, *CLASSES):
        assert contrast(getattr(colour, ground), GROUNDS[ground]) >= 3  # WCAG, graphics
    for colour in ATOMS.values():
        assert contrast(getattr(colour, ground), GROUNDS[ground]) >= 4.5  # WCAG, text


def test_methods_that_are_shown_together_differ_in_colour():
    for one, other in combinations(TOGETHER, 2):
        assert method_style(one).colour != method_style(other).colour


@pytest.mark.parametrize("eyes", EYES)
@pytest.mark.parametrize("ground", GROUNDS)
def test_lines_that_are_shown_together_differ_in_dash_or_are_far_apart(ground, eyes):
    for one, other in combinations((*TOGETHER, "sa"), 2):
        styles = method_style(one), method_style(other)
        places = [seen(getattr(style.colour, ground), eyes) for style in styles]
        near = np.linalg.norm(places[0] - places[1]) < 15
        assert not near or styles[0].dash != styles[1].dash, (one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("EiG-Search", "eig_search"), ("Grad-CAM", "gradcam"), ("Integrated Gradients", "ig")],
)
def test_a_method_has_one_style_under_all_its_names(one, other):
    assert method_style(one) == method_style(other)


def test_method_style_of_each_registered_explainer_is_unique_and_not_dotted():
    styles = {name: method_style(name) for name in registry.names()}
    assert len(set(styles.values())) == len(styles)
    assert "2 3" not in {style.dash for style in styles.values()}  # the dots of published values
    for name in registry.names():
        assert method_style(registry.method_class(name).card.name) == styles[name]


def test_method_style_of_an_unknown_name_is_fixed():
    assert method_style("Somebody's explainer") == method_style("somebodys explainer")


def test_both_grounds_have_the_same_variables():
    assert css_variables("light").keys() == css_variables("dark").keys()


def test_searches_of_eig_search_have_lines_of_their_own():
    names = ["EiG-Search", *(f"EiG-Search, {name}" for name in SEARCHES if name != "sweep")]
    styles = [method_style(name) for name in names]
    assert {style.colour for style in styles} == {method_style("eig_search").colour}
    assert len({style.dash for style in styles}) == len(names)
