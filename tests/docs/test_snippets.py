"""Every snippet of the documentation runs, and prints what the page says it prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.snippets import ROOT, PageRun, commands, snippets

DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
RUNNABLE = [page for page in PAGES if list(snippets(page.read_text(encoding="utf-8")))]
# What a machine with this project alone cannot run; nothing else may be left out.
NOT_RUN = {
    "README.md": "takes hours",
    "coming-from.md": "needs ",
    "cluster.md": "needs a Ray cluster",
}


@pytest.mark.parametrize("page", RUNNABLE, ids=lambda page: str(page.relative_to(ROOT)))
def test_page_runs_from_top_to_bottom(page: Path, workplace: Path) -> None:
    PageRun(page).run()


@pytest.mark.parametrize("page", RUNNABLE, ids=lambda page: str(page.relative_to(ROOT)))
def test_page_leaves_out_only_what_needs_other_packages_or_machines(page: Path) -> None:
    for snippet in snippets(page.read_text(encoding="utf-8")):
        if snippet.reason:
            assert snippet.reason.startswith(NOT_RUN.get(page.name, "—")), (page.name, snippet.line)


class TestSnippets:
    def test_of_all_kinds_are_found(self) -> None:
        page = (
            "<!-- setup\na = 1\n-->\n```python\nb = 2\n```\n\n    ```sh\n    make test\n    ```\n"
            '```toml title="plan.toml"\nx = 1\n```\n<!-- not run: needs DIG -->\n```sh\nc\n```\n'
        )
        found = [(s.language, s.title, s.code, s.reason) for s in snippets(page)]
        assert found == [
            ("python", None, "a = 1\n", None),
            ("python", None, "b = 2\n", None),
            ("sh", None, "make test\n", None),
            ("toml", "plan.toml", "x = 1\n", None),
            ("", None, "", "needs DIG"),
        ]

    def test_commands_are_split_as_a_shell_does(self) -> None:
        assert list(commands("a 'b c' \\\n  d  # why\n\n# e\n")) == [["a", "b c", "d"]]

    def test_output_that_differs_is_an_error(self, workplace: Path) -> None:
        page = ROOT / "docs" / "page.md"
        run = PageRun(page)
        run.run_snippet(next(snippets("```python\nprint('size 6, gain 0.9')\n```")))
        run.run_snippet(next(snippets("```text\nsize 6, gain …\n```")))
        with pytest.raises(AssertionError, match="Expected the block to print"):
            run.run_snippet(next(snippets("```text\nsize 5, gain …\n```")))

    @pytest.mark.parametrize("code", ["rm -rf x", "make nothing", "pip install 'eigsearch[no]'"])
    def test_commands_of_no_meaning_are_errors(self, code: str) -> None:
        run = PageRun(ROOT / "docs" / "page.md")
        with pytest.raises((AssertionError, ValueError)):
            run.run_snippet(next(snippets(f"```sh\n{code}\n```")))
