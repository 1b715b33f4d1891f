"""The documentation builds without a warning, and the built site works in a browser, as files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urldefrag, urljoin

import pytest

from tests.browser.conftest import PATIENCE

ROOT = Path(__file__).parents[2]
PHONE, DESK = 390, 1280


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as `make docs` builds it; a warning is an error."""
    pytest.importorskip("mkdocs", reason="needs MkDocs (extra `docs`)")
    folder = tmp_path_factory.mktemp("site")
    command = (ROOT / "Makefile").read_text().split("mkdocs build")[1].splitlines()[0].split()
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", *command, "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert "--strict" in command
    assert built.returncode == 0, built.stderr + built.stdout
    assert "WARNING" not in built.stderr + built.stdout
    return folder


@pytest.fixture(scope="module")
def crawled(site: Path, browser) -> dict[str, dict]:
    """What each page of the site has at two widths, by following links from the first page."""
    with browser.new_context() as context:
        outside: list[str] = []
        context.on("request", lambda r: r.url.startswith("file:") or outside.append(r.url))
        pages = _follow((site / "index.html").as_uri(), context)
    assert outside == []
    return pages


def _is_missing(request) -> bool:
    """Return whether a request failed by itself, and not because the browser went on."""
    return request.failure != "net::ERR_ABORTED"


def _follow(first: str, context) -> dict[str, dict]:
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "requestfailed", lambda request: _is_missing(request) and complaints.append(request.url)
    )
    found: dict[str, dict] = {}
    waiting = [first]
    while waiting:
        address = waiting.pop()
        if address in found:
            continue
        found[address] = {"overflow": []}
        for width in (DESK, PHONE):
            page.set_viewport_size({"width": width, "height": 900})
            if width == DESK:
                page.goto(address, wait_until="load")
            found[address]["overflow"] += page.evaluate(_OVERFLOW)
        found[address] |= page.evaluate(_CONTENT)
        inside = (urldefrag(urljoin(address, link))[0] for link in found[address]["links"])
        waiting += [link for link in inside if link.startswith("file:") and link.endswith(".html")]
    assert complaints == []
    return found


_OVERFLOW = "() => document.documentElement.scrollWidth > innerWidth ? [innerWidth] : []"
_CONTENT = """() => ({
    links: [...document.querySelectorAll("a[href]")].map(e => e.getAttribute("href")),
    ids: [...document.querySelectorAll("[id]")].map(e => e.id),
    broken: [...document.images].filter(e => e.complete && !e.naturalWidth).map(e => e.src),
    title: document.title,
})"""


def test_site_links_every_page_of_the_docs(site: Path, crawled: dict) -> None:
    built = {path.as_uri() for path in site.rglob("*.html")} - {(site / "404.html").as_uri()}
    assert built == set(crawled)
    assert len(built) >= 40


def test_site_links_lead_to_pages_and_headings_that_exist(crawled: dict) -> None:
    missing = []
    for address, page in crawled.items():
        for link in page["links"]:
            target, heading = urldefrag(urljoin(address, link))
            if not target.startswith("file:"):
                continue
            file = Path(target.removeprefix("file://"))
            known = crawled.get(target, {"ids": []})["ids"]
            if not file.exists() or (heading and heading not in known):
                missing.append((address, link))
    assert missing == []


def test_site_shows_every_picture_and_fits_both_widths(crawled: dict) -> None:
    assert [page["broken"] for page in crawled.values() if page["broken"]] == []
    assert {
        address: page["overflow"] for address, page in crawled.items() if page["overflow"]
    } == {}


@pytest.mark.parametrize("width", [DESK, PHONE])
def test_site_search_finds_a_page_without_a_server(site: Path, browser, width: int) -> None:
    with browser.new_context(viewport={"width": width, "height": 900}) as context:
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto((site / "concepts" / "gain.html").as_uri())
        page.wait_for_function("() => window.__index")
        if width == PHONE:
            page.locator("label.md-header__button[for=__search]").click()
        page.locator("[name=query]").click()
        page.keyboard.insert_text("sparsit")  # and no search yet, whose results would be replaced
        page.keyboard.press("y")
        first = page.locator(".md-search-result__link").first
        first.wait_for()
        first.click()
        page.wait_for_url("**/*.html?h=*")
        assert "sparsity" in page.locator("article").inner_text()
