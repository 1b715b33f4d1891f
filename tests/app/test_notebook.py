import importlib.util

import pytest

from eigsearch.app.notebook import mimebundle, widget
from eigsearch.errors import MissingExtraError
from tests.visualization.samples import MOLECULES, nitro_explanation

needs_anywidget = pytest.mark.skipif(
    importlib.util.find_spec("anywidget") is None, reason="needs anywidget (extra `notebook`)"
)


@needs_anywidget
def test_widget_holds_the_page_and_the_chosen_size():
    shown = widget(nitro_explanation(), MOLECULES)
    assert shown.size == nitro_explanation().size
    assert shown.page.startswith("<!DOCTYPE html>")
    assert "mutagen" in shown.page


@needs_anywidget
def test_mimebundle_in_a_kernel_offers_the_widget_and_the_page(monkeypatch):
    monkeypatch.setattr("eigsearch.app.notebook._in_kernel", lambda: True)
    bundle = nitro_explanation()._repr_mimebundle_()
    assert {"application/vnd.jupyter.widget-view+json", "text/html", "text/plain"} <= set(bundle)


def test_mimebundle_outside_of_a_kernel_is_the_page():
    assert set(mimebundle(nitro_explanation())) == {"text/html", "text/plain"}


def test_widget_without_anywidget_names_the_extra(monkeypatch):
    monkeypatch.setattr("eigsearch.app.notebook.find_spec", lambda name: None)
    assert set(mimebundle(nitro_explanation())) == {"text/html", "text/plain"}
    with pytest.raises(MissingExtraError, match="notebook"):
        widget(nitro_explanation())
