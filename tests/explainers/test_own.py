"""Whatever scores edges or nodes explains: functions, tensors, objects, PyG, captum."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
import torch
from torch_geometric.explain import DummyExplainer, GNNExplainer

import eigsearch
from eigsearch import explainers
from eigsearch.datasets import generate
from eigsearch.errors import InputError
from eigsearch.explainers import registry
from eigsearch.explainers.own import as_method
from eigsearch.models import GNN

GRAPH = generate("BA-2Motifs")[0]
SCORES = torch.arange(float(GRAPH.num_edges))


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    return GNN("gcn", 10, 2).eval()


def chosen(model, ranker, **options):
    return eigsearch.explain(model, GRAPH, ranker=ranker, search="fixed", size=6, **options)


def by_number(model, data, target):
    return torch.arange(float(data.num_edges))


class Ranks:
    """The smallest class that explains."""

    def __init__(self, sign=1.0):
        self.sign = sign

    def rank(self, model, data, target, node):
        return self.sign * torch.arange(float(data.num_edges))


def by_degree(model, data):
    return torch.bincount(data.edge_index[0], minlength=data.num_nodes).float()


by_degree.level = "node"  # type: ignore[attr-defined]


def mean_over_directions():
    """Return the groups that the scores choose, by hand."""
    pairs: dict[frozenset[int], list[float]] = {}
    for edge, score in zip(GRAPH.edge_index.t().tolist(), SCORES.tolist(), strict=True):
        pairs.setdefault(frozenset(edge), []).append(score)
    best = sorted(pairs, key=lambda pair: -sum(pairs[pair]) / len(pairs[pair]))[:6]
    return set(best)


def pairs_of(explanation):
    ends = explanation.data.edge_index[:, explanation.edge_mask].t().tolist()
    return {frozenset(edge) for edge in ends}


@pytest.mark.parametrize(
    "ranker",
    [SCORES, by_number, lambda model, data: SCORES, Ranks, Ranks(), f"{__name__}:by_number",
     f"{__file__}:by_number", f"{__name__}:Ranks", lambda *args: SCORES],
)  # fmt: skip
def test_explain_takes_scores_however_they_are_brought(ranker, model):
    assert pairs_of(chosen(model, ranker)) == mean_over_directions()


@pytest.mark.parametrize("name", ["ig", "Grad CAM", "occlusion"])
def test_explain_takes_the_name_of_an_explainer(name, model):
    expected = chosen(model, explainers.get(name))
    assert torch.equal(chosen(model, name).edge_mask, expected.edge_mask)


def test_explain_with_an_unknown_name_lists_those_there_are(model):
    with pytest.raises(InputError, match="Did you mean"):
        chosen(model, "gradcan")


def test_node_scores_induce_by_nodes(model):
    function, tensor = chosen(model, by_degree), chosen(model, by_degree(None, GRAPH))
    assert torch.equal(function.edge_mask, tensor.edge_mask)
    assert as_method(by_degree).level == "node"


def test_scores_of_a_whole_graph_serve_the_computation_graph_of_a_node():
    graph = generate("Tree-Grid")[0]
    torch.manual_seed(0)
    model = GNN("gcn", 10, 2, task="node").eval()
    scores = torch.arange(float(graph.num_edges))
    found = eigsearch.explain(model, graph, node=520, ranker=scores, search="fixed", size=4)
    inside = found.edges
    best = {frozenset(e) for e in graph.edge_index[:, inside].t()[-1:].tolist()}
    assert best <= {frozenset(e) for e in graph.edge_index[:, found.edge_mask].t().tolist()}


@pytest.mark.parametrize("algorithm", [GNNExplainer(epochs=3), DummyExplainer()])
def test_an_algorithm_of_pyg_explains_and_is_left_as_it_was(algorithm, model):
    before = dict(vars(algorithm))
    torch.manual_seed(0)
    found = chosen(model, algorithm)
    assert found.size == 6
    assert vars(algorithm).keys() == before.keys()
    assert as_method(algorithm).name == type(algorithm).__name__


def test_a_class_of_captum_equals_the_explainer_built_on_it(model):
    captum = pytest.importorskip("captum.attr")
    own = chosen(model, captum.InputXGradient)
    assert torch.equal(own.edge_mask, chosen(model, "input_x_gradient").edge_mask)


@pytest.mark.parametrize(
    ("ranker", "message"),
    [
        (3, r"to score edges \(got int\)"),
        (lambda model: SCORES, r"\(got 1 arguments\)"),
        (SCORES[:5], "finite scores for the 50 edges or 25 nodes"),
        (lambda model, data: SCORES[:5], "one finite score for each of 50 edges"),
        ("nowhere.py:f", "a file that exists"),
    ],
)
def test_what_scores_nothing_is_refused_with_what_to_pass(ranker, message, model):
    with pytest.raises(InputError, match=message):
        chosen(model, ranker)


def test_get_makes_a_class_of_the_user_with_options():
    assert explainers.get(f"{__name__}:Ranks", sign=-1.0).name == "Ranks"
    assert explainers.get(f"{__file__}:by_number").name == "by_number"


def test_an_entry_point_of_a_package_is_a_name(monkeypatch, model):
    own = EntryPoint("ranks", "tests.explainers.test_own:MethodRanks", registry.GROUP)
    entries = {**registry._entries(), "ranks": own}
    monkeypatch.setattr(registry, "_entries", lambda: entries)
    assert pairs_of(chosen(model, "ranks")) == mean_over_directions()


class MethodRanks(Ranks, explainers.Method):
    card = as_method(by_number).card


def test_a_function_of_the_user_is_no_part_of_the_model(model, tmp_path: Path):
    state = {name: value.clone() for name, value in model.state_dict().items()}
    chosen(model, by_number)
    assert all(torch.equal(value, state[name]) for name, value in model.state_dict().items())
