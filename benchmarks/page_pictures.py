"""Take the pictures of pages that the docs show: real pages, made and opened in a Chromium.

    python -m benchmarks.page_pictures             # all
    python -m benchmarks.page_pictures gallery     # one

Writes docs/images/pages/*.webp and docs/images/studio.png. Needs Playwright and Chromium (extra
`dev`), and Pillow; the picture of `what_if` also Mutagenicity.
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import eigsearch
from eigsearch import datasets, explainers
from eigsearch.models import zoo
from eigsearch.visualization import Names, save_comparison, save_explanation, save_gallery

OUT = Path(__file__).parents[1] / "docs" / "images" / "pages"
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
WIDTH, HEIGHT, QUALITY = 1280, 820, 62
Shot = Callable[[Path], Path]


def _setting() -> tuple[Any, Any, Names]:
    dataset = datasets.generate("Cycle-House-None")
    return zoo.load("Cycle-House-None", "gin")[0], dataset, Names.of(dataset)


def explanation(folder: Path) -> Path:
    """Return the page of one explanation."""
    model, dataset, names = _setting()
    ex = eigsearch.explain(model, dataset[2], sparsity=0.7)
    return save_explanation(ex, folder / "page.html", names=names)


def gallery(folder: Path) -> Path:
    """Return the page of many explanations."""
    model, dataset, names = _setting()
    found = eigsearch.explain_dataset(model, dataset[:60], sparsity=0.7, progress=False)
    return save_gallery(found, folder / "page.html", names=names)


def comparison(folder: Path) -> Path:
    """Return the page of several explainers on one prediction."""
    model, dataset, names = _setting()
    found = {
        name: eigsearch.explain(model, dataset[2], ranker=explainers.get(name), sparsity=0.7)
        for name in ("eig_search", "ig", "gradcam", "random")
    }
    return save_comparison(found, folder / "page.html", names=names)


def node(folder: Path) -> Path:
    """Return the page of a node's explanation: its neighbourhood."""
    dataset = datasets.generate("BA-Shapes")
    ex = eigsearch.explain(zoo.load("BA-Shapes", "gin")[0], dataset[0], node=401)
    return save_explanation(ex, folder / "page.html", names=Names.of(dataset))


def flip(folder: Path) -> Path:
    """Return the page of a counterfactual."""
    model, dataset, names = _setting()
    answer: Any = eigsearch.flip(model, dataset[1], to=2, add=True)
    return Path(answer.save(folder / "page.html", names=names))


def features(folder: Path) -> Path:
    """Return the page of an explanation by edges and features."""
    dataset = datasets.generate("Planted-Columns")
    model, _ = zoo.load("Planted-Columns", "gcn")
    ex = eigsearch.explain(model, dataset[0], node=8, features="columns", max_size=12)
    return save_explanation(ex, folder / "page.html", names=Names.of(dataset))


def typed(folder: Path) -> Path:
    """Return the page of a link of a typed graph."""
    dataset = datasets.generate("Two-Ways")
    data: Any = dataset[0]
    user, item = data.edge_label_index[:, 7].tolist()
    model, _ = zoo.load("Two-Ways", "hetero")
    ex = eigsearch.explain(model, data, link=(("user", user), ("item", item)), search="refine")
    return save_explanation(ex, folder / "page.html", names=Names.of(dataset))


def report(folder: Path) -> Path:
    """Return the report of a small benchmark."""
    from eigsearch.bench.report.builder import write_report

    return write_report(Path(__file__).parent / "results" / "paper", folder)


SHOTS: dict[str, Shot] = {
    each.__name__: each
    for each in (explanation, gallery, comparison, node, flip, features, typed, report)
}


@contextmanager
def browser() -> Iterator[Any]:
    """Open a Chromium."""
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=path, args=FLAGS)
        yield opened
        opened.close()


def take(page: Any, address: str, path: Path) -> None:
    """Write a picture of what a browser shows at an address."""
    from PIL import Image

    page.goto(address)
    page.wait_for_timeout(1500)
    image = Image.open(io.BytesIO(page.screenshot()))
    image.save(path, "WEBP", quality=QUALITY, method=6)
    print(path, f"{path.stat().st_size / 1000:.0f} kB")


def studio(page: Any, path: Path) -> None:
    """Write a picture of the studio."""
    model, dataset, names = _setting()
    with (
        tempfile.TemporaryDirectory() as cache,
        eigsearch.studio(model, dataset[:60], names=names, cache=cache) as opened,
    ):
        take(page, opened.address, path)


def what_if(page: Any, path: Path) -> None:
    """Write a picture of a molecule whose prediction a removed bond changes."""
    from PIL import Image

    dataset, (model, _) = datasets.load("Mutagenicity"), zoo.load("Mutagenicity", "gin")
    graphs = dataset.graphs[:60]
    with (
        tempfile.TemporaryDirectory() as cache,
        eigsearch.studio(model, graphs, names=Names.of(dataset), cache=cache) as opened,
    ):
        page.set_viewport_size({"width": 1180, "height": 733})
        page.goto(f"{opened.address}#item=2")
        page.click("[data-part=flip]")
        page.wait_for_selector("[data-part=flip]:not([disabled])")
        for part in ("undo", "redo") * 3:  # the shown time is not that of a first call
            page.click(f".edit-bar [data-part={part}]")
            page.wait_for_timeout(500)
        image = Image.open(io.BytesIO(page.screenshot())).quantize(128)
        image.save(path, "PNG", optimize=True)
        print(path, f"{path.stat().st_size / 1000:.0f} kB")


def main() -> None:
    """Take the pictures that were asked for."""
    wanted = sys.argv[1:] or [*SHOTS, "studio", "what_if"]
    OUT.mkdir(parents=True, exist_ok=True)
    with browser() as opened:
        page = opened.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        for name in wanted:
            path = OUT / f"{name}.webp"
            if name == "studio":
                studio(page, path)
                continue
            if name == "what_if":
                what_if(page, OUT.parent / "studio.png")
                continue
            with tempfile.TemporaryDirectory() as folder:
                take(page, SHOTS[name](Path(folder)).as_uri(), path)


if __name__ == "__main__":
    main()
