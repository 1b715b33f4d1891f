"""What the browser tests of the studio share: edits of an address, what a page shows."""

import re

from eigsearch.app.edits import GraphEdits


def shown_scores(page):
    bars = page.locator(".class-bar").evaluate_all(
        "bars => bars.map(b => [Number(b.dataset.class), Number(b.dataset.value)])"
    )
    return [value for _, value in sorted(bars)]


def edits_of(page):
    """Return the edits that the address names."""
    fields = dict(re.findall(r"(\w+)=([^&]*)", page.evaluate("location.hash")))
    pairs = {
        name: frozenset(
            tuple(map(int, key.split("."))) for key in fields.get(name, "").split("_") if key
        )
        for name in ("cut", "add", "zero")
    }
    nodes = frozenset(int(key) for key in fields.get("drop", "").split("_") if key)
    return GraphEdits(pairs["cut"], pairs["add"], nodes, pairs["zero"])


def wait_for_edits(page, count):
    """Wait until the page shows so many edits."""
    page.wait_for_selector("[data-part=view]:not(.waiting)")
    words = page.locator("[data-part=edit-list]")
    for _ in range(3000):  # a minute
        if sum(map(int, re.findall(r"\d+", words.text_content()))) == count:
            return
        page.wait_for_timeout(20)
    raise AssertionError(words.text_content())


def click_link(page, index):
    """Click the middle of a link, where no node lies above it."""
    page.locator(".editable .link .hit").nth(index).dispatch_event("click", {"bubbles": True})
