"""Plans expand to the runs that they describe, and refuse what they do not know."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from eigsearch.bench import PLANS, parse_plan, read_plan, run_plan
from eigsearch.errors import InputError
from eigsearch.models import PublishedGIN

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


def test_each_seed_explains_another_network_where_the_plan_says_so() -> None:
    runs = parse_plan(TEXT.replace("sample = 9", "sample = 9\nnetworks = 2"), "mine").runs()
    assert {(run.seed, run.replica) for run in runs} == {(0, 0), (1, 1), (2, 0)}
    plain = {run.key for run in parse_plan(TEXT, "mine").runs()}
    assert [run.replica for run in runs if run.key not in plain] == [1] * 2


def test_a_search_may_have_limits_of_its_own() -> None:
    more = 'sample = 9\nsearches = ["fixed", "sweep"]\nlimits = { sweep = [0.7] }'
    run = parse_plan(TEXT.replace("sample = 9", more), "mine").runs()[0]
    assert run.limits_of("fixed") == (0.5, 0.7)
    assert run.limits_of("sweep") == (0.7,)


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
        ("sample = 9", "sample = 9\nnetworks = 4", "`networks` to be at most 3"),
        ("sample = 9", "sample = 9\nlimits = { sweeep = [0.5] }", "sweep"),
        ("sample = 9", "sample = 9\nlimits = { sweep = [2] }", "`limits`"),
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


def test_published_networks_leave_settings_without_weights_out(tmp_path: Path) -> None:
    save_weights(tmp_path)
    plan = parse_plan(TEXT, "mine")
    published = plan.with_published_networks(tmp_path)
    runs = published.runs()
    assert published.name == "mine-published"
    assert {(run.dataset, run.model) for run in runs} == {("BA-2Motifs", "gin")}
    assert all(run.weights == str(tmp_path) for run in runs)
    assert not {run.key for run in runs} & {run.key for run in plan.runs()}


def test_published_networks_key_depends_on_the_weights_and_not_on_their_place(
    tmp_path: Path,
) -> None:
    keys = []
    for number, seed in enumerate((0, 0, 1)):
        save_weights(tmp_path / str(number), seed)
        plan = parse_plan(TEXT, "mine").with_published_networks(tmp_path / str(number))
        keys.append([run.key for run in plan.runs()])
    assert keys[0] == keys[1]
    assert not set(keys[0]) & set(keys[2])


def test_published_networks_of_other_settings_are_refused(tmp_path: Path) -> None:
    save_file({"x": torch.ones(1)}, tmp_path / "gcn_MUTAG.safetensors")
    with pytest.raises(InputError, match="a setting of the plan mine"):
        parse_plan(TEXT, "mine").with_published_networks(tmp_path)


def test_published_networks_are_explained_and_named_in_rows(tmp_path: Path) -> None:
    save_weights(tmp_path)
    text = TEXT.replace("sample = 9", "sample = 2").replace(', "subgraphx"', "")
    plan = parse_plan(text, "mine").with_published_networks(tmp_path)
    rows = [row for now in run_plan(plan, tmp_path / "out") for row in now.last.rows]
    assert {row["networks"] for row in rows} == {"published"}
    assert {row["status"] for row in rows} == {"ok"}


def save_weights(directory: Path, seed: int = 0) -> None:
    """Weights of the paper's GIN for BA-2Motifs, untrained."""
    directory.mkdir(exist_ok=True)
    torch.manual_seed(seed)
    model = PublishedGIN(10, 2, 8, "graph")
    save_file(model.state_dict(), directory / "gin_ba_2motifs.safetensors")
