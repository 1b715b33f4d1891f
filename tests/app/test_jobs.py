import threading

import pytest
import torch

from eigsearch import explainers
from eigsearch.app.edits import GraphEdits
from eigsearch.app.jobs import Jobs, method_rows
from eigsearch.app.session import EditedItem, Session
from eigsearch.errors import InputError
from eigsearch.search import SEARCHES, Sweep
from tests.app.sessions import PATIENCE, motif_graphs, motif_model, motif_session


@pytest.fixture
def jobs(tmp_path):
    session = motif_session(tmp_path / "cache")
    jobs = Jobs(session)
    yield jobs
    jobs.stop()
    session.close()


def wait(jobs):
    jobs._thread.submit(lambda: None).result(timeout=PATIENCE)


def test_compare_shows_every_method_in_its_order(jobs):
    methods = ["explainer:eig_search", "explainer:random", "search:refine"]
    job = jobs.start(EditedItem(2), methods)
    wait(jobs)
    assert job.finished
    assert [name for name, error in job.done if error is None] == methods
    names = [answer["name"] for answer in job.result["answers"]]
    assert names == ["EiG-Search", "Random", "EiG-Search, refine"]


def test_compare_after_edits_explains_the_edited_graph(jobs):
    u, v = motif_graphs()[2].edge_index[:, 0].tolist()
    edits = GraphEdits(removed_edges=frozenset({(u, v)}))
    job = jobs.start(EditedItem(2, edits), ["explainer:eig_search"])
    wait(jobs)
    expected = jobs.session.answer(EditedItem(2, edits)).explanation
    assert job.result["answers"][0]["groups"] == expected.num_groups
    assert job.result["answers"][0]["size"] == expected.size


def test_compare_with_a_method_that_fails_goes_on_with_the_others(jobs):
    job = jobs.start(EditedItem(0), ["explainer:att", "explainer:sa"])  # no attention in a GIN
    wait(jobs)
    errors = dict(job.done)
    assert errors["explainer:att"]
    assert errors["explainer:sa"] is None


class Waiting(torch.nn.Module):
    """A model whose calls wait until the test says so."""

    started, go_on = threading.Event(), threading.Event()

    def __init__(self):
        super().__init__()
        self.inner = motif_model()
        self.slow = False

    def forward(self, x, edge_index, batch):
        if self.slow:
            self.started.set()
            self.go_on.wait(PATIENCE)
        return self.inner(x, edge_index, batch)


@pytest.fixture
def waiting():
    """A model whose events are those of this test, wherever it is copied to."""
    Waiting.started.clear()
    Waiting.go_on.clear()
    return Waiting()


def test_cancel_ends_a_running_explainer_and_skips_the_rest(tmp_path, waiting):
    session = Session(waiting, motif_graphs()[:2], cache=tmp_path / "cache")
    jobs = Jobs(session)
    waiting.slow = True
    job = jobs.start(EditedItem(0), ["explainer:gnnexplainer", "explainer:sa"])
    assert waiting.started.wait(PATIENCE)
    job.cancel.set()
    waiting.go_on.set()
    jobs.stop()
    assert job.finished
    assert job.done == []
    session.close()


class Slow(Sweep):
    """A search that computes for a while, and calls no model meanwhile."""

    started, go_on = threading.Event(), threading.Event()

    def steps(self, problem):
        """Wait until the test says so, compute, and search as usual."""
        self.started.set()
        self.go_on.wait(PATIENCE)
        torch.ones(3).sum()
        return super().steps(problem)


def test_cancel_ends_a_search_between_calls_of_the_model(jobs, monkeypatch):
    monkeypatch.setitem(SEARCHES, "slow", Slow)
    job = jobs.start(EditedItem(0), ["search:slow", "explainer:sa"])
    assert Slow.started.wait(PATIENCE)
    job.cancel.set()
    Slow.go_on.set()
    wait(jobs)
    assert (job.finished, job.done, job.error) == (True, [], None)


@pytest.mark.parametrize(
    "methods", [[], ["explainer:nothing"], ["os.system"], ["explainer:sa"] * 13]
)
def test_start_with_unknown_methods_raises(jobs, methods):
    with pytest.raises(InputError):
        jobs.start(EditedItem(0), methods)


def test_methods_name_explainers_and_searches_with_those_that_train_last():
    rows = method_rows("graph")
    names = [row["id"] for row in rows]
    assert {"explainer:eig_search", "search:refine", "search:exhaustive"} <= set(names)
    trained = [row["id"] for row in rows if row["trains"]]
    assert "explainer:pgexplainer" in trained
    assert names[-len(trained) :] == trained
    assert "explainer:dnx" not in names  # for nodes only


def test_compare_trains_an_explainer_once(jobs, monkeypatch):
    fitted, fit = [], explainers.get("kfactexplainer").__class__.fit
    monkeypatch.setattr(
        explainers.get("kfactexplainer").__class__,
        "fit",
        lambda self, model, graphs, **how: (
            fitted.append(len(graphs)),
            fit(self, model, graphs[:2], **how),
        ),
    )
    for _ in range(2):
        job = jobs.start(EditedItem(2), ["explainer:kfactexplainer"])
        wait(jobs)
        assert job.done == [("explainer:kfactexplainer", None)]
        assert job.result["answers"][0]["groups"] > 0
    assert fitted == [32]


def test_jobs_cancel_during_training_ends_it(tmp_path, waiting):
    session = Session(waiting, motif_graphs()[:2], cache=tmp_path / "cache")
    jobs = Jobs(session)
    waiting.slow = True
    job = jobs.start(EditedItem(0), ["explainer:pgexplainer", "explainer:sa"])
    assert waiting.started.wait(PATIENCE)
    assert job.state()["stage"] == "training on 2 of 2 graphs"
    job.cancel.set()
    waiting.go_on.set()
    jobs.stop()
    assert (job.finished, job.done) == (True, [])
    session.close()
