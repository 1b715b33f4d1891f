"""The long fuzz works: some of its cases pass, and a broken promise is found by its number."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from benchmarks.fuzz.__main__ import fuzz
from benchmarks.fuzz.cases import Case, draw_case
from benchmarks.fuzz.check import Tally, check_case
from benchmarks.fuzz.dice import Dice
from benchmarks.fuzz.models import Plan, draw_model
from benchmarks.fuzz.plain import Plain
from benchmarks.fuzz.promises import SOMETIMES, renamed
from benchmarks.fuzz.same import Broken, same_answers
from torch_geometric.data import Data

from eigsearch.engines.batched import disjoint_union
from eigsearch.inputs.instance import PreparedInstance
from tests.nets import FEATURES


def test_some_graphs_keep_every_promise() -> None:
    tally, failed = fuzz(graphs=120, seed=7)
    assert failed == []
    assert tally.graphs >= 120
    assert tally.explanations > 60


def test_a_case_is_a_function_of_its_number() -> None:
    one, other = draw_case(0, 5), draw_case(0, 5)
    assert str(one) == str(other)
    assert all(a.x.equal(b.x) for a, b in zip(one.graphs, other.graphs, strict=True))
    state = other.model.state_dict()
    assert all(value.equal(state[name]) for name, value in one.model.state_dict().items())


def test_a_broken_promise_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Isolated nodes that stay in a subgraph change what a model that pools by mean says."""

    def everyone(instance: PreparedInstance, edge_keep: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return np.ones((len(edge_keep), instance.num_nodes), bool)

    monkeypatch.setattr(disjoint_union, "_induced_nodes", everyone)
    assert any(breaks(number) for number in range(4))


def breaks(number: int) -> bool:
    try:
        check_case(7, number, Tally(), promises=len(SOMETIMES))
    except Broken:
        return True
    return False


NODES, BACKWARDS = torch.arange(1), torch.tensor([1, 0])


def two_loops(layer: str) -> Case:
    """Return a case of one node with two self-loops of different weight."""
    plan = Plan((layer,), None, False, None, "sum", None, 1, "raw", False)
    dice = Dice(0, 0)
    model = draw_model(plan, dice, torch.float64)
    loops = torch.zeros(2, 2, dtype=torch.long)
    data = Data(dice.normal(1, FEATURES), loops, edge_weight=torch.tensor([0.0, 1.0]).double())
    options = {"search": "sweep", "task": "regression", "target": 0}
    return Case(0, plan, model, [data], None, options, "tame", dice)


def test_a_model_that_minds_the_order_of_edges_is_excused_under_other_names() -> None:
    case = two_loops("GCN with weights")
    other = case.about([renamed(case.graphs[0], NODES, BACKWARDS)], None)
    one, turned = (Plain(each).output(each.graphs[0]) for each in (case, other))
    assert (one - turned).abs().max() > 0.1  # PyG gives the node the weight of its last loop
    same_answers(case, case.answers(), other.answers(), "with other names", [BACKWARDS])
    assert case.notes["compared, the model minds the order"] == 1


def test_a_model_that_does_not_mind_excuses_nothing() -> None:
    case = two_loops("GraphConv with weights")
    other = case.about([renamed(case.graphs[0], NODES, BACKWARDS)], None).answers()
    same_answers(case, case.answers(), other, "with other names", [BACKWARDS])
    assert case.notes["compared, the model minds the order"] == 0
    wrong = [replace(answer, score=answer.score.flip(0)) for answer in other]
    with pytest.raises(Broken, match="the same drops with other names"):
        same_answers(case, case.answers(), wrong, "with other names", [BACKWARDS])
