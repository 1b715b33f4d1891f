"""A real Chromium, and pages that must not ask for anything or complain."""

import os
import shutil

import pytest

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run",
)  # fmt: skip
LOOKS = [(1280, "light"), (390, "dark"), (1280, "dark"), (390, "light")]  # pixels, scheme
LOOK_NAMES = [f"{width}-{scheme}" for width, scheme in LOOKS]
EVERY_LOOK = pytest.mark.parametrize("look", LOOKS, ids=LOOK_NAMES, indirect=True)
TRIED = len(LOOKS) if os.environ.get("ALL_LOOKS") else 2  # both widths and both schemes at least
PATIENCE = 300_000  # milliseconds; on a busy machine a browser answers late, and that is no fault


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="needs Playwright (extra `dev`)")
    if CHROMIUM is None:
        pytest.skip("needs a Chromium on the PATH, such as Debian's package `chromium`")
    playwright.expect.set_options(timeout=PATIENCE)
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(
            executable_path=CHROMIUM, args=list(FLAGS), timeout=PATIENCE
        )
        yield running
        running.close()


@pytest.fixture
def open_page(browser, tmp_path):
    """Open HTML as a file; afterwards nothing may have been requested, logged or thrown."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    requested, complaints = [], []

    def visit(html, width=1280):
        file = tmp_path / "page.html"
        file.write_text(html, encoding="utf-8")
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.set_viewport_size({"width": width, "height": 900})
        page.on("request", lambda request: requested.append(request.url))
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.goto(file.as_uri())
        page.wait_for_selector("html[data-ready]")
        return page

    yield visit
    context.close()
    assert [url for url in requested if not url.startswith("file:")] == []
    assert complaints == []


@pytest.fixture(params=LOOKS[:TRIED], ids=LOOK_NAMES[:TRIED])
def look(request):
    """The width of the screen and the colour scheme: what uses it is tried in several."""
    return request.param


@pytest.fixture
def visit(browser, look):
    """Open an address in each look; nothing may go elsewhere, be logged or thrown meanwhile."""
    requested, complaints, contexts = [], [], []

    def open_address(address, hash="", touch=False):
        context = browser.new_context(
            viewport={"width": look[0], "height": 900},
            color_scheme=look[1],
            accept_downloads=True,
            has_touch=touch,
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("request", lambda request: requested.append((address, request.url)))
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.goto(address + hash)
        page.wait_for_selector("html[data-ready]")
        return page

    yield open_address
    for context in contexts:
        context.close()
    foreign = [url for own, url in requested if not url.startswith((own, "blob:"))]
    assert foreign == []
    assert complaints == []
