"""Plans expand to the runs that they describe, and refuse what they do not know."""

from __future__ import annotations

import pytest

from eigsearch.bench import PLANS, parse_plan, read_plan
from eigsearch.errors import InputError

TEXT = """
description = "two by two"
[[section]]
name = "fidelity"
settings = ["BA-2Motifs/gcn", "BA-2Motifs/gin"]
explainers = ["eig_search", "subgraphx"]
sparsities = [0.5, 0.7]
sample = 9
seeds = [0, 1, 2]
[explainer.subgraphx]
sample = 2
seeds = 1
options = { rollouts = 3 }
"""


def test_a_plan_is_the_product_of_its_lists() -> None:
    runs = parse_plan(TEXT, "mine").runs()
    ours = [run for run in runs if run.explainer == "eig_search"]
    assert {(run.model, run.seed) for run in ours} == {
        (m, s) for m in ("gcn", "gin") for s in range(3)
    }
    assert all(run.sample == 9 for run in ours)
    assert all(run.sparsities == (0.5, 0.7) for run in runs)


def test_a_slow_explainer_is_treated_as_the_plan_says() -> None:
    slow = [run for run in parse_plan(TEXT, "mine").runs() if run.explainer == "subgraphx"]
    assert len(slow) == 2
    assert all((run.sample, run.options) == (2, {"rollouts": 3}) for run in slow)


def test_the_key_is_that_of_the_content() -> None:
    before, again = (parse_plan(TEXT, "mine").runs() for _ in range(2))
    changed = parse_plan(TEXT.replace("sample = 9", "sample = 8"), "mine").runs()
    assert [run.key for run in before] == [run.key for run in again]
    assert len({run.key for run in before}) == len(before)
    same = {run.key for run in before} & {run.key for run in changed}
    assert same == {run.key for run in before if run.explainer == "subgraphx"}


@pytest.mark.parametrize("name", sorted(path.stem for path in PLANS.glob("*.toml")))
def test_the_plans_that_come_along_are_sound(name: str) -> None:
    plan = read_plan(name)
    assert plan.description
    assert plan.runs()


@pytest.mark.parametrize(
    ("wrong", "right", "answer"),
    [
        ('"subgraphx"]', '"subgrafx"]', "Did you mean subgraphx"),
        ("BA-2Motifs/gcn", "BA-2Motifs/gat", "network for BA-2Motifs"),
        ("sample = 9", "sampel = 9", "'sampel'"),
        ("rollouts = 3 }", "rollouts = 3 }\nseconds = 4", "'seconds'"),
        ("sample = 9", 'sample = 9\nkind = "guess"', "induce"),
        ("sample = 9", 'sample = 9\nsearches = ["sweeep"]', "sweep"),
        ('name = "fidelity"', "", "`name`"),
    ],
)
def test_mistakes_are_refused_by_name(wrong: str, right: str, answer: str) -> None:
    with pytest.raises(InputError, match=answer):
        parse_plan(TEXT.replace(wrong, right), "mine")


def test_an_unknown_plan_is_answered_with_those_there_are() -> None:
    with pytest.raises(InputError, match="smoke"):
        read_plan("smoky")


def test_runs_come_seed_by_seed() -> None:
    seeds = [run.seed for run in parse_plan(TEXT, "mine").runs()]
    assert seeds == sorted(seeds)
