"""The runner of snippets finds all blocks of a page, and fails where one does not do as it says."""

from __future__ import annotations

import pytest

from tests.docs.snippets import ROOT, PageRun, commands, snippets


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

    def test_output_that_differs_is_an_error(self) -> None:
        page = ROOT / "docs" / "page.md"
        run = PageRun(page)
        run.run_snippet(next(snippets("```python\nprint('size 6, gain 0.9')\n```")))
        run.run_snippet(next(snippets("```text\nsize 6, gain …\n```")))
        with pytest.raises(AssertionError, match="Expected the block to print"):
            run.run_snippet(next(snippets("```text\nsize 5, gain …\n```")))

    def test_code_without_a_language_is_an_error(self) -> None:
        with pytest.raises(ValueError, match="a language that can run"):
            PageRun(ROOT).run_snippet(next(snippets("```\neigsearch view results\n```")))

    @pytest.mark.parametrize("code", ["rm -rf x", "make nothing", "pip install 'eigsearch[no]'"])
    def test_commands_of_no_meaning_are_errors(self, code: str) -> None:
        run = PageRun(ROOT / "docs" / "page.md")
        with pytest.raises((AssertionError, ValueError)):
            run.run_snippet(next(snippets(f"```sh\n{code}\n```")))
