"""Runs the snippets of a Markdown page, from top to bottom, in the current directory.

A block with a title is a file of that name. Other Python is executed, all of a page with the same
names; `eigsearch` commands run in this process; SQL runs in DuckDB. A `text` block is what the
block before it prints, where `…` stands for anything. What readers need not see stands in a comment
`<!-- setup … -->`; what cannot run here says why in a comment `<!-- not run: … -->`.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

from typer.testing import CliRunner

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(
    r"^ *<!-- setup\n(?P<setup>.*?)-->"
    r"|^ *<!-- not run: (?P<reason>[^\n]+) -->\s+```.*?^ *```$"
    r"|^(?P<indent> *)```(?P<info>[^\n]*)\n(?P<code>.*?)^(?P=indent)```$",
    re.DOTALL | re.MULTILINE,
)
_CODE = re.compile(r"^(eigsearch|pip|make|import|from) ", re.MULTILINE)  # in a drawing: forgotten


@dataclass(frozen=True)
class Snippet:
    """One block of a page: its language, its title if it has one, and the line it starts in."""

    language: str
    title: str | None
    code: str
    line: int
    reason: str | None = None  # why it cannot be run


def snippets(text: str) -> Iterator[Snippet]:
    """Yield the blocks of a page in order."""
    for match in _BLOCK.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        if match["reason"]:
            yield Snippet("", None, "", line, match["reason"])
        elif match["setup"] is not None:
            yield Snippet("python", None, dedent(match["setup"]), line)
        else:
            language, _, rest = match["info"].strip().partition(" ")
            title = re.search(r'title="([^"]+)"', rest)
            yield Snippet(language, title[1] if title else None, dedent(match["code"]), line)


class PageRun:
    """The state of a page while it runs: the names of its Python, and what was printed last."""

    def __init__(self, page: Path) -> None:
        self.page, self.directory = page, Path.cwd()
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.printed: str | None = None

    def run(self) -> PageRun:
        """Run all blocks; an error says in which line of the page its block starts."""
        line = 0
        try:
            for each in snippets(self.page.read_text(encoding="utf-8")):
                line = each.line
                self.run_snippet(each)
        except Exception as error:
            where = f"{self.page.relative_to(ROOT)}:{line}"
            raise AssertionError(f"The block at {where}: {error!r}") from error
        return self

    def run_snippet(self, snippet: Snippet) -> None:
        """Run a block, write it as a file, or compare it with what was printed."""
        if snippet.reason:
            return
        if snippet.title:
            Path(snippet.title).write_text(snippet.code, encoding="utf-8")
        elif snippet.language == "python":
            self.printed = self._execute(snippet)
        elif snippet.language == "sh":
            self.printed = "".join(map(run_command, commands(snippet.code)))
        elif snippet.language == "sql":
            run_sql(snippet.code)
        elif snippet.language == "text":
            self._compare(snippet.code)
        elif snippet.language or re.search(_CODE, snippet.code):
            raise ValueError(f"Expected a language that can run (got {snippet.language!r}).")

    def _execute(self, snippet: Snippet) -> str:
        name = f"{self.page}:{snippet.line}"
        linecache.cache[name] = (len(snippet.code), None, snippet.code.splitlines(True), name)
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(snippet.code, name, "exec"), self.names)
        return printed.getvalue()

    def _compare(self, expected: str) -> None:
        if self.printed is None:  # a drawing of files, not of output
            return
        parts = [re.escape(part) for part in _squeezed(expected).split("…")]
        assert re.fullmatch(".*?".join(parts), _squeezed(self.printed), re.DOTALL), (
            f"Expected the block to print\n{expected}\n(got)\n{self.printed}"
        )


def _squeezed(text: str) -> str:
    """Return a text without spaces at line ends, nor empty lines around it."""
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def commands(code: str) -> Iterator[list[str]]:
    """Yield the words of each command, without comments; a backslash joins lines."""
    for line in code.replace("\\\n", " ").splitlines():
        if words := shlex.split(line, comments=True):
            yield words


def run_command(words: list[str]) -> str:
    """Run an `eigsearch` command and return what it prints; check others against the project."""
    program, *arguments = words
    if program == "eigsearch":
        return run_eigsearch(arguments)
    if program == "make":
        targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        assert set(arguments) <= set(targets), arguments
    elif program in ("pip", "python") and "install" in arguments:
        check_extras(arguments)
    else:
        raise ValueError(f"Expected a command that can run (got {shlex.join(words)!r}).")
    return ""


def run_eigsearch(arguments: list[str]) -> str:
    """Run a command that has to work; one that serves a page is only parsed."""
    from eigsearch.cli.app import app

    if arguments[:1] == ["serve"]:
        arguments = [*arguments, "--help"]
    result = CliRunner().invoke(app, arguments, env={"COLUMNS": "100"})
    assert result.exit_code == 0, result.output + repr(result.exception)
    return result.stdout


def check_extras(arguments: list[str]) -> None:
    """Expect the extras that `pip install` names to exist."""
    pyproject = (ROOT / "pyproject.toml").read_text()
    for argument in arguments:
        for extra in re.findall(r"\[(.+)\]", argument):
            for name in extra.split(","):
                assert re.search(rf"^{name} = \[", pyproject, re.MULTILINE), name


def run_sql(code: str) -> None:
    """Run every statement of a block in DuckDB."""
    import duckdb

    duckdb.sql(code)
