"""A plan that mixes parts of the user with built-in ones, from its file to its page."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from eigsearch.bench import read_plan, run_plan
from eigsearch.bench.plan import parse_plan
from eigsearch.bench.report.builder import write_report
from eigsearch.bench.rows.frame import OWN, read_frame
from eigsearch.bench.run.digests import explainer_digest
from eigsearch.bench.run.setting import load_setting
from eigsearch.errors import InputError

PARTS = """
import torch
from eigsearch.datasets import generate
from eigsearch.models import zoo


def houses():
    return list(generate("BA-2Motifs").graphs[:6]) + list(generate("BA-2Motifs").graphs[-6:])


def network(dataset):
    assert len(dataset) == 12
    return zoo.load("BA-2Motifs", "gin")[0]


class Backwards:
    def __init__(self, step=1.0):
        self.step = step

    def rank(self, model, data, target, node):
        return -self.step * torch.arange(float(data.num_edges))


def half_size(explanation, model):
    return explanation.size / 2
"""
PLAN = """
[[section]]
name = "fidelity"
settings = [
    "own_parts.py:houses/own_parts.py:network",
    "BA-2Motifs/own_parts.py:stored",
    "BA-2Motifs/gin",
]
explainers = ["eig_search", "own_parts.py:Backwards", "random"]
searches = ["fixed", "sweep"]
sparsities = [0.5]
sample = 2
metrics = ["own_parts.py:half_size"]

[explainer."own_parts.py:Backwards"]
options = { step = 2.0 }
"""
STORED = """

def stored():
    return zoo.load("BA-2Motifs", "gcn")[0]
"""


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write the parts and the plan, and work beside them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "own_parts", raising=False)
    monkeypatch.delenv("EIGSEARCH_DATA", raising=False)
    Path("own_parts.py").write_text(PARTS + STORED)
    Path("mixed.toml").write_text(PLAN)
    return tmp_path


def test_a_plan_of_own_and_built_in_parts_gives_rows_tables_figures_and_a_page(plan) -> None:
    for _ in run_plan(read_plan("mixed.toml"), "out"):
        pass
    frame = read_frame("out")
    assert set(frame["status"]) == {"ok"}
    assert set(frame["setting"]) == {"houses network", "BA-2Motifs stored", "BA-2Motifs GIN"}
    assert frame[f"{OWN}half_size"].tolist() == (frame["size"] / 2).tolist()
    own = frame[frame["explainer"] == "own_parts.py:Backwards"]
    assert len(own) == 3 * 2 * 2
    assert json.loads(own["options"].iloc[0]) == {"step": 2.0}
    page = write_report("out").read_text()
    for shown in ("Backwards", "houses network", "half_size", "Metrics of this plan"):
        assert shown in page, shown
    assert Path("out/report/figures/gain.svg").exists()
    assert "half_size" in Path("out/report/tables/own_metrics.md").read_text()


def test_runs_of_own_parts_are_done_again_when_their_code_changes(plan) -> None:
    def keys():
        return {run.explainer: run.key for run in read_plan("mixed.toml").runs()}

    before = keys()
    Path("own_parts.py").write_text(PARTS.replace("-self.step", "self.step") + STORED)
    sys.modules.pop("own_parts")
    explainer_digest.cache_clear()
    after = keys()
    assert before["own_parts.py:Backwards"] != after["own_parts.py:Backwards"]
    assert before["random"] == after["random"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("houses/", "palaces/", "palaces"),
        ('"BA-2Motifs/gin"', '"BA-2Motifs/nowhere.py:net"', "a file that exists"),
        ("Backwards", "Sideways", "Did you mean|Sideways"),
    ],
)
def test_a_part_that_is_not_there_is_named(old, new, message, plan) -> None:
    wrong = parse_plan(PLAN.replace(old, new), "wrong")
    with pytest.raises(InputError, match=message):
        _load_all(wrong)


def _load_all(plan) -> None:
    for run in plan.runs():
        assert run.key
        load_setting(run.dataset, run.model)
