"""What is asked of one prediction can be asked of a data set, of workers, of rows and of PyG."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import torch
from torch_geometric.explain import Explainer
from torch_geometric.nn import GCN

import eigsearch
from eigsearch import store
from eigsearch.datasets import generate
from eigsearch.errors import InputError
from eigsearch.models import zoo
from eigsearch.parallel import explain_to

GRAPHS = list(generate("BA-2Motifs").graphs[498:502])
TREE = generate("Tree-Grid")[0]
NODES = [511, 600, 3]
ASKED: list[dict[str, Any]] = [
    {"connected": True, "max_size": 6},
    {"connected": True, "search": "refine"},
    {"features": "columns", "baseline": "mean"},
    {"features": torch.arange(10) // 5, "groups": "none", "baseline": torch.ones(10)},
    {"features": "nodes", "max_size": 9},
    {"rather_than": 1, "search": "refine", "max_size": 4},
]


QUESTIONS: dict[str, dict[str, Any]] = {
    "rather_than": {"rather_than": 1},
    "above": {"task": "regression", "above": 0.1},
    "columns": {"features": "columns"},
    "nodes": {"features": "nodes"},
    "connected": {"connected": True},
    "max_size": {"max_size": 4},
    "refine": {"search": "refine"},
    "anchored": {"search": "anchored"},
    "resweep": {"search": "resweep"},
    "fixed": {"search": "fixed"},
    "ig": {"ranker": "ig"},
}
REFUSED = {
    *(frozenset(pair) for pair in combinations(("refine", "anchored", "resweep", "fixed"), 2)),
    *(frozenset(pair) for pair in combinations(("columns", "nodes"), 2)),
}  # two values of one option
SENTENCES = {
    frozenset({"rather_than", "above"}): "`rather_than` to be used where",
    **{frozenset({"connected", kind}): "connected=False" for kind in ("columns", "nodes")},
    **{frozenset({"ig", kind}): "`ranker` to be one of" for kind in ("columns", "nodes")},
}


def network(at_nodes: bool) -> tuple[Any, Any, dict[str, Any]]:
    """Return a model, its data, and which predictions are explained."""
    if not at_nodes:
        return zoo.load("BA-2Motifs", "gin")[0], GRAPHS, {}
    torch.manual_seed(0)
    return GCN(10, 8, 2, 2).eval(), TREE, {"node": NODES}


@pytest.mark.parametrize("at_nodes", [False, True], ids=["graphs", "nodes"])
@pytest.mark.parametrize("options", ASKED, ids=lambda options: "+".join(options))
def test_data_sets_and_rows_give_the_explanations_of_single_calls(
    options: dict[str, Any], at_nodes: bool, tmp_path: Path
) -> None:
    model, data, which = network(at_nodes)
    options = {**options, "task": "multiclass", "return_type": "raw"}
    which = {**which, "target": 0}
    expected = [eigsearch.explain(model, g, node=n, target=0, **options) for g, n in _asked(data)]
    found = list(eigsearch.explain_dataset(model, data, progress=False, **which, **options))
    explain_to(tmp_path, model, data, options=eigsearch.Options(**options), **which)
    rows = list(store.read(tmp_path, [data] if at_nodes else data))
    for one, other, row in zip(expected, found, rows, strict=True):
        assert torch.equal(one.keep, other.keep)
        torch.testing.assert_close(other.score, one.score, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(other.curve.gain, one.curve.gain, atol=1e-5, rtol=1e-5)
        assert (row.sentence(), row.components) == (other.sentence(), one.components)
        assert torch.equal(row.keep, other.keep)
        torch.testing.assert_close(row.edge_share, one.edge_share)
        assert row.elbow() == one.elbow() <= one.size <= options.get("max_size", one.size)
        assert one.components <= 1 or not options.get("connected")


def _asked(data: Any) -> list[tuple[Any, int | None]]:
    return [(g, None) for g in data] if isinstance(data, list) else [(data, n) for n in NODES]


@pytest.mark.parametrize(
    "names",
    [pair for pair in combinations(QUESTIONS, 2) if frozenset(pair) not in REFUSED],
    ids="+".join,
)
def test_any_two_questions_are_answered_together_or_refused_in_a_sentence(
    names: tuple[str, str],
) -> None:
    options = {name: value for each in names for name, value in QUESTIONS[each].items()}
    model, (data, *_), _ = network(at_nodes=False)
    refusal = SENTENCES.get(frozenset(names))
    if refusal is not None:
        with pytest.raises(InputError, match=rf"^Expected .*{refusal}.* \(got .*\)\. [A-Z].*\.$"):
            eigsearch.explain(model, data, target=0, return_type="raw", **options)
        return
    found = eigsearch.explain(model, data, target=0, return_type="raw", **options)
    assert found.sentence().endswith(".")
    assert found.size <= options.get("max_size", found.size)
    assert float(found.edge_share.min()) >= 0.0
    assert found.components <= 1 or not options.get("connected")
    assert found.config["rather_than"] == options.get("rather_than")
    assert found.config["above"] == options.get("above")


def test_workers_give_the_explanations_of_one_process() -> None:
    for options in (ASKED[0], ASKED[3], ASKED[-1]):
        model, data, which = network(at_nodes=True)
        which = {**which, "target": 0}
        one = eigsearch.explain_dataset(model, data, progress=False, **which, **options)
        two = eigsearch.explain_dataset(model, data, progress=False, workers=2, **which, **options)
        for left, right in zip(one, two, strict=True):
            assert left.sentence() == right.sentence()
            assert torch.equal(left.keep, right.keep)
            if "features" in options:
                assert torch.equal(left.node_mask, right.node_mask)


def test_pyg_takes_the_limits_of_a_subgraph() -> None:
    model, data, _ = network(at_nodes=True)
    explainer = Explainer(
        model,
        eigsearch.EiGSearch(connected=True, max_size=5),
        explanation_type="model",
        edge_mask_type="object",
        model_config={
            "mode": "multiclass_classification",
            "task_level": "node",
            "return_type": "raw",
        },
    )
    (found,) = explainer(data.x, data.edge_index, index=511).details
    assert found.size <= 5
    assert found.components == 1
    one = eigsearch.explain(
        model, data, node=511, connected=True, max_size=5, task="multiclass", return_type="raw"
    )
    assert torch.equal(found.edge_mask, one.edge_mask)
