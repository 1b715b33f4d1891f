"""Bring into the site what lies outside docs/: figures, the project's pages, help of commands."""

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
    files.append(File.generated(config, "api/command-line.md", content=_command_line()))
    for source, target in PAGES.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, target, content=_inside_site(text)))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """Point figures of the results at their copies in the site."""
    return markdown.replace(f"(../{FIGURES}", "(figures/")


def _command_line() -> str:
    """Return a page with the help of every command."""
    from typer.testing import CliRunner

    from eigsearch.cli.app import app

    def help_of(*command: str) -> str:
        plain = {"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1"}
        printed = CliRunner().invoke(app, [*command, "--help"], env=plain, prog_name="eigsearch")
        return "\n".join(line.rstrip() for line in printed.stdout.strip("\n").splitlines())

    names = [
        info.name or info.callback.__name__ for info in app.registered_commands if info.callback
    ]
    parts = [f"## {name}\n\n```text\n{help_of(name)}\n```\n" for name in names]
    about = "What `eigsearch COMMAND --help` prints, for every command.\n"
    return "\n".join(["# Command line\n", about, *parts])


def _inside_site(text: str) -> str:
    """Rewrite links of a page at the top of the repository for its place in the site."""
    for source, target in PAGES.items():
        text = text.replace(f"]({source})", f"](../{target})")
    return text.replace("](docs/", "](../")
