"""What the browser tests of the studio share: edits, waiting, and answers that are held back."""

import re
import threading
import time

import torch

from eigsearch.app.edits import GraphEdits
from eigsearch.app.training import Rankers
from eigsearch.search import SEARCHES, Sweep
from tests.browser.conftest import PATIENCE


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


def wait_until(page, holds, found=lambda: ""):
    """Wait until a condition holds while the page lives on; `found` tells what was there last."""
    deadline = time.monotonic() + PATIENCE / 1000
    while not holds():
        assert time.monotonic() < deadline, found()
        page.wait_for_timeout(20)


def wait_for_edits(page, count):
    """Wait until the page shows so many edits."""
    page.wait_for_selector("[data-part=view]:not(.waiting)")
    words = page.locator("[data-part=edit-list]").text_content
    wait_until(page, lambda: sum(map(int, re.findall(r"\d+", words()))) == count, words)


def wait_for_count(page, text):
    """Wait until the table tells how many of its rows match, such as `3 of 40`."""
    page.locator("[data-part=count]", has_text=re.compile(f"^{text}$")).wait_for()


def click_link(page, index):
    """Click the middle of a link, where no node lies above it."""
    page.locator(".editable .link .hit").nth(index).dispatch_event("click", {"bubbles": True})


def free_point(page):
    """Return the middle of a link that no node covers."""
    page.locator(".stage").scroll_into_view_if_needed()
    return page.locator(".editable .link .hit").evaluate_all(
        """paths => paths.map((path) => {
          const middle = path.getPointAtLength(path.getTotalLength() / 2);
          const { x, y } = middle.matrixTransform(path.getScreenCTM());
          const top = document.elementFromPoint(x, y);
          return top?.closest(".link") === path.parentElement ? [x, y] : null;
        }).find(Boolean)"""
    )


class Held:
    """Answers of the server that wait until a test lets them go.

    The route stays to the end: where the last one is removed, Chromium sends the requests held.
    """

    def __init__(self, page, path="api/answer"):
        self.page, self.routes, self.holds = page, [], True
        page.route(f"**/{path}", self._take)

    def _take(self, route):
        if self.holds:
            self.routes.append(route)
        else:
            route.continue_()

    def wait_for(self, count):
        wait_until(self.page, lambda: len(self.routes) >= count, lambda: len(self.routes))

    def release(self, number):
        """Send one of the requests held, and let later ones pass."""
        self.hold_no_more()
        self.routes[number].continue_()

    def release_last(self):
        self.release(-1)

    def release_all(self):
        self.hold_no_more()
        for route in self.routes:
            route.continue_()

    def hold_no_more(self):
        """Let later requests pass; those held are never sent."""
        self.holds = False


def ask_once_more(page):
    """Wait for another answer of the server: what was sent before has come by then."""
    page.evaluate("fetch(location.pathname + 'api/rows').then((answer) => answer.text())")


def cancel(page):
    """Cancel a comparison, and wait until the server knows."""
    with page.expect_response(lambda response: response.request.method == "DELETE"):
        page.click("[data-part=cancel]")


class Gate:
    """A place that another thread reaches, and passes once the test says so."""

    def __init__(self):
        self.reached, self.opened = threading.Event(), threading.Event()

    def wait(self):
        self.reached.set()
        self.opened.wait(PATIENCE / 1000)


def gate_of_training(monkeypatch):
    """Return the gate that an explainer reaches before it trains."""
    gate, train = Gate(), Rankers.train

    def train_behind_it(self, name, model):
        gate.wait()
        train(self, name, model)

    monkeypatch.setattr(Rankers, "train", train_behind_it)
    return gate


def gate_of_refine(monkeypatch):
    """Return the gate that the search `refine` reaches before it searches."""
    gate = Gate()

    class Behind(Sweep):
        """A search that waits first."""

        def steps(self, problem):
            gate.wait()
            torch.ones(3).sum()
            return super().steps(problem)

    monkeypatch.setitem(SEARCHES, "refine", Behind)
    return gate
