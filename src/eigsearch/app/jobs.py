"""Run comparisons of explainers in a thread, with progress and cancel."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from torch.overrides import TorchFunctionMode

from eigsearch import explainers
from eigsearch.app.page_data import comparison_data
from eigsearch.app.session import EditedItem, Session, copy_of
from eigsearch.app.training import Rankers
from eigsearch.errors import EigsearchError, InputError
from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.outcomes import reason_of
from eigsearch.search import SEARCHES

_MOST_JOBS = 50
_MOST_METHODS = 12
_OURS = "eig_search"


class Cancelled(EigsearchError):
    """A job that a user ended."""


@dataclass
class Job:
    """A comparison that runs or ran.

    Attributes:
        id: Random name of the job.
        methods: Names of explainers and searches, in their order.
        done: What is finished: the name, and an error or None.
        running: The name of the method that runs now.
        stage: The current stage, if it is not explaining.
        result: Page data once at least one method is finished.
    """

    id: str
    methods: Sequence[str]
    done: list[tuple[str, str | None]] = field(default_factory=list)
    running: str | None = None
    stage: str = ""
    result: dict[str, Any] | None = None
    finished: bool = False
    error: str | None = None
    cancel: threading.Event = field(default_factory=threading.Event)

    def state(self) -> dict[str, Any]:
        """Return the job as JSON."""
        return {
            "id": self.id,
            "methods": list(self.methods),
            "done": [{"name": name, "error": error} for name, error in self.done],
            "running": self.running,
            "stage": self.stage,
            "finished": self.finished,
            "cancelled": self.cancel.is_set(),
            "error": self.error,
            "result": self.result,
        }


class Jobs:
    """The comparisons of a session, one at a time."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._rankers = Rankers(session)
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="studio-compare")

    def start(self, edited_item: EditedItem, methods: Sequence[str]) -> Job:
        """Queue a comparison.

        Raises:
            InputError: If a method is not known, or there are too many.
        """
        known = {row["id"] for row in method_rows(self.session.level, self.session.items.is_typed)}
        wrong = [name for name in methods if name not in known]
        if wrong or not 0 < len(methods) <= _MOST_METHODS:
            raise InputError(
                f"Expected 1 to {_MOST_METHODS} of {', '.join(sorted(known))} (got "
                f"{', '.join(map(repr, wrong[:1])) or len(methods)}). Choose from the list."
            )
        job = Job(secrets.token_urlsafe(8), list(dict.fromkeys(methods)))
        self._jobs[job.id] = job
        while len(self._jobs) > _MOST_JOBS:
            self._jobs.popitem(last=False)[1].cancel.set()
        self._thread.submit(self._run, job, edited_item)
        return job

    def get(self, job_id: str) -> Job:
        """Return a job.

        Raises:
            InputError: If there is no such job.
        """
        if job_id not in self._jobs:
            raise InputError("Expected a comparison that is known (got another). Start it again.")
        return self._jobs[job_id]

    def stop(self) -> None:
        """Cancel all jobs and end the thread."""
        for job in self._jobs.values():
            job.cancel.set()
        self._thread.shutdown(wait=True, cancel_futures=True)

    def _run(self, job: Job, edited_item: EditedItem) -> None:
        try:
            with self.session.active.interactive():
                self._compare(job, edited_item)
        except Exception as error:  # shown in the page, since a thread cannot raise to a caller
            job.error = reason_of(error)
        job.running, job.finished = None, True

    def _compare(self, job: Job, edited_item: EditedItem) -> None:
        session, found = self.session, dict[str, SubgraphExplanation]()
        graph, subject = session.edited(edited_item)
        target = edited_item.target
        for method in job.methods:
            if job.cancel.is_set():
                return
            job.running, job.stage = method, ""
            error = None
            try:
                explanation = self._explain(job, method, graph.data, subject, target)
                target = explanation.target
                found[display_name(method)] = explanation
                job.result = comparison_data(session, edited_item, graph, found)
            except Exception as failure:
                if job.cancel.is_set():  # whatever became of it on its way up
                    return
                error = reason_of(failure)
            job.done.append((method, error))

    def _explain(
        self, job: Job, method: str, data: Any, subject: dict[str, Any], target: int | None
    ) -> SubgraphExplanation:
        kind, _, name = method.partition(":")
        model = copy_of(self.session.model)
        with _StoppingWhen(job.cancel):
            if kind == "search":
                return self.session.explain(data, subject, target, model=model, search=name)
            if name == _OURS:
                return self.session.explain(data, subject, target, model=model)
            if self._rankers.has_to_train(name):
                job.stage = f"training on {self._rankers.part}"
                self._rankers.train(name, model)
                job.stage = ""
            ranker = self._rankers.make(name)
            return self.session.explain(data, subject, target, model=model, ranker=ranker)


def method_rows(level: str, typed: bool = False) -> list[dict[str, Any]]:
    """Return the explainers and searches that a level allows; those that train come last.

    For typed graphs they are those that take links: they know nodes by type.
    """
    ranked = [
        {
            "id": f"explainer:{row['explainer']}",
            "name": row["name"],
            "kind": "explainer",
            "trains": row["trains"] == "yes",
        }
        for row in explainers.table()
        if level in row["tasks"] and ("link" in row["tasks"] or not typed)
    ]
    searches = [
        {
            "id": f"search:{name}",
            "name": display_name(f"search:{name}"),
            "kind": "search",
            "trains": False,
        }
        for name in SEARCHES
        if name not in ("sweep", "fixed")
    ]
    return sorted(ranked + searches, key=lambda row: bool(row["trains"]))


def display_name(method: str) -> str:
    """Return the name of a method as a person reads it."""
    kind, _, name = method.partition(":")
    if kind == "search":
        return f"EiG-Search, {name}"
    return explainers.get(name).name


class _StoppingWhen(TorchFunctionMode):
    """Make every torch function that this thread calls end the job once it is cancelled.

    A search may score a hundred thousand candidates without a call of the model.
    """

    def __init__(self, cancel: threading.Event) -> None:
        super().__init__()
        self.cancel = cancel

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if self.cancel.is_set():
            raise Cancelled("The comparison was cancelled.")
        return func(*args, **(kwargs or {}))
