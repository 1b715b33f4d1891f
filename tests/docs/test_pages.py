"""Every snippet of the documentation runs, and a newcomer who follows it gets what it promises."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.docs.newcomer import TASKS, Task
from tests.docs.snippets import ROOT, PageRun, snippets

DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
RUNNABLE = [page for page in PAGES if list(snippets(page.read_text(encoding="utf-8")))]
# What a machine with this project alone cannot run; nothing else may be left out.
NOT_RUN = {
    "README.md": "takes hours",
    "results.md": "takes hours",
    "coming-from.md": "needs ",
    "cluster.md": "needs a Ray cluster",
}
Follow = Callable[[str], PageRun]


@pytest.mark.parametrize("page", RUNNABLE, ids=lambda page: str(page.relative_to(ROOT)))
def test_page_runs_from_top_to_bottom(page: Path, follow: Follow) -> None:
    follow(str(page.relative_to(ROOT)))


@pytest.mark.parametrize("page", RUNNABLE, ids=lambda page: str(page.relative_to(ROOT)))
def test_page_leaves_out_only_what_needs_other_packages_or_machines(page: Path) -> None:
    for snippet in snippets(page.read_text(encoding="utf-8")):
        if snippet.reason:
            assert snippet.reason.startswith(NOT_RUN.get(page.name, "—")), (page.name, snippet.line)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.want)
def test_newcomer_does_a_task_by_following_its_page(task: Task, follow: Follow) -> None:
    run = follow(f"docs/{task.page}")
    task.check(run.names, run.directory)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.want)
def test_newcomer_finds_the_heading_of_a_task(task: Task) -> None:
    lines = (DOCS / task.page).read_text(encoding="utf-8").splitlines()
    assert task.heading in [line.lstrip("# ") for line in lines if line.startswith("#")]


def test_newcomer_has_thirty_different_tasks() -> None:
    assert len({task.want for task in TASKS}) == len(TASKS) >= 30
