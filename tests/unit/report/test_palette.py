from itertools import combinations

import pytest

from eigsearch.explainers.registry import METHODS as METHODS_OF_THE_ARENA
from eigsearch.report.palette import ATOMS, CLASSES, ROLES, css_variables, method_style

GROUNDS = {"light": "#ffffff", "dark": "#1a1e24"}
TOGETHER = ("eig_search", "gnnexplainer", "pgexplainer", "subgraphx", "gradcam", "ig", "random")


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


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


@pytest.mark.parametrize(
    ("one", "other"),
    [("EiG-Search", "eig_search"), ("Grad-CAM", "gradcam"), ("Integrated Gradients", "ig")],
)
def test_a_method_has_one_style_under_all_its_names(one, other):
    assert method_style(one) == method_style(other)


def test_each_method_of_the_arena_has_a_style_of_its_own_under_both_of_its_names():
    styles = {name: method_style(name) for name in METHODS_OF_THE_ARENA}
    assert len(set(styles.values())) == len(styles)
    for name, method in METHODS_OF_THE_ARENA.items():
        assert method_style(method.card.name) == styles[name]


def test_both_grounds_have_the_same_variables():
    assert css_variables("light").keys() == css_variables("dark").keys()
