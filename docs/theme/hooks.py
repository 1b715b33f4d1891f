"""Bring into the site what lies outside docs/: figures of results, and the project's own pages."""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
FIGURES = "benchmarks/results/paper/report/figures/"
PAGES = {
    "ARCHITECTURE.md": "project/architecture.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the figures that pages show, and the pages at the top of the repository."""
    for figure in sorted((ROOT / FIGURES).glob("*.svg")):
        files.append(File.generated(config, f"figures/{figure.name}", abs_src_path=str(figure)))
    for source, target in PAGES.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, target, content=_inside_site(text)))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """Point figures of the results at their copies in the site."""
    return markdown.replace(f"(../{FIGURES}", "(figures/")


def _inside_site(text: str) -> str:
    """Rewrite links of a page at the top of the repository for its place in the site."""
    for source, target in PAGES.items():
        text = text.replace(f"]({source})", f"](../{target})")
    return text.replace("](docs/", "](../")
