"""The notebook widget in a page that plays the part of a notebook."""

import json
from pathlib import Path

from eigsearch import app
from eigsearch.visualization import explanation_page
from tests.browser.conftest import PATIENCE
from tests.visualization.samples import MOLECULES, nitro_explanation

SCRIPT = Path(app.__file__).parent / "static" / "widget.js"
NOTEBOOK = """<!DOCTYPE html><html><body><div id="cell"></div><script type="module">
const source = %s;
const values = %s;
const listeners = [];
const model = {
  get: (name) => values[name],
  set: (name, value) => { values[name] = value; document.body.dataset[name] = value; },
  save_changes: () => {},
  on: (_, listener) => listeners.push(listener),
  off: () => {},
};
const blob = new Blob([source], { type: "text/javascript" });
const widget = (await import(URL.createObjectURL(blob))).default;
widget.render({ model, el: document.getElementById("cell") });
window.setFromPython = (size) => {
  values.size = size;
  listeners.forEach((listener) => listener());
};
document.documentElement.dataset.ready = "true";
</script></body></html>"""


def test_slider_and_python_share_the_size(browser, tmp_path):
    values = {"page": explanation_page(nitro_explanation(), MOLECULES), "size": 3}
    script = json.dumps(SCRIPT.read_text()).replace("<", "\\u003c")
    page_values = json.dumps(values).replace("<", "\\u003c")
    (tmp_path / "notebook.html").write_text(NOTEBOOK % (script, page_values))
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto((tmp_path / "notebook.html").as_uri())
    page.wait_for_selector("html[data-ready]")
    frame = page.frame_locator("iframe")
    frame.locator("html[data-ready]").wait_for()
    frame.locator("[data-part=slider]").fill("1")
    page.wait_for_selector("body[data-size='2']")
    page.evaluate("setFromPython(5)")
    frame.locator(".marker[data-size='5']").wait_for(state="attached")
    page.close()
