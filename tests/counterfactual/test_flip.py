"""`flip` against its slow twin, and what it promises."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import GINConv, GraphConv, global_add_pool

import eigsearch
from eigsearch.counterfactual.explanation import FlipExplanation
from eigsearch.errors import InputError, UnsupportedError
from tests.reference import flip as twin
from tests.search.brute import Net, random_graph

ENGINES = ("batched", "incremental")


def changed(found: FlipExplanation) -> frozenset[tuple[int, int]]:
    """Return the undirected edges that an answer removes and adds."""
    pairs = torch.cat([found.removed, found.added], dim=1).t().tolist()
    return frozenset((min(u, v), max(u, v)) for u, v in pairs)


def one(model: nn.Module, data: Data, **options: Any) -> FlipExplanation:
    found = eigsearch.flip(model, data, **options)
    assert isinstance(found, FlipExplanation)
    return found


@pytest.mark.parametrize("add", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_flip_exhaustive_finds_the_smallest_sets_of_the_twin(seed: int, add: bool) -> None:
    model, data = Net(seed, outputs=3), random_graph(seed, nodes=6, edges=6)
    expected = set(twin.flips(model, data, add=add))
    found = eigsearch.flip(model, data, search="exhaustive", answers=1000, add=add, max_size=3)
    assert isinstance(found, list)
    smallest = {changed(flip) for flip in found if flip.size == found[0].size}
    assert smallest == (expected if expected and len(min(expected)) <= 3 else set())


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seed", [0, 1, 5, 8])
def test_flip_reports_what_the_model_says_after_the_change(seed: int, engine: str) -> None:
    model, data = Net(seed, outputs=3), random_graph(seed)
    found = one(model, data, engine=engine, add=seed % 2 == 0)
    assert found.flipped
    edges = twin.undirected(data)
    before = twin.predict(model, data, edges).double().softmax(0)
    after = twin.predict(model, data, sorted(set(edges) ^ changed(found))).double().softmax(0)
    assert found.prediction == found.target == int(before.argmax())
    assert found.prediction_after == int(after.argmax()) != found.prediction
    assert found.value == pytest.approx(float(before[found.target]), abs=1e-5)
    assert found.value_after == pytest.approx(float(after[found.target]), abs=1e-5)
    assert found.size == len(changed(found))
    removed = sorted(changed(found) & set(edges))
    alone = twin.predict(model, data, removed).double().softmax(0)
    assert float(found.found.kept) == pytest.approx(float(alone[found.target]), abs=1e-5)
    assert float(found.found.removed) == pytest.approx(found.value_after)


def test_flip_greedy_within_one_edge_of_the_minimum_in_most_cases() -> None:
    close = cases = 0
    for seed in range(300):
        model = Net(seed, outputs=2 + seed % 2)
        data = random_graph(seed, nodes=5 + seed % 4, edges=6 + seed % 5)
        best = one(model, data, search="exhaustive", engine="batched")
        greedy = one(model, data, engine="batched")
        assert greedy.flipped <= best.flipped
        if best.flipped:
            cases += 1
            close += greedy.flipped and greedy.size <= best.size + 1
    assert cases > 100
    assert close >= 0.95 * cases


def test_flip_to_a_class_predicts_that_class() -> None:
    reached = 0
    for seed in range(12):
        model, data = Net(seed, outputs=3), random_graph(seed)
        before = one(model, data).prediction
        for to in {0, 1, 2} - {before}:
            found = one(model, data, to=to)
            reached += found.flipped
            assert not found.flipped or found.prediction_after == to
    assert reached > 6


def test_flip_several_answers_are_different_and_smallest_first() -> None:
    found = eigsearch.flip(Net(3), random_graph(3), answers=5)
    assert isinstance(found, list)
    sets = [changed(flip) for flip in found]
    assert len(found) > 1
    assert [flip.size for flip in found] == sorted(flip.size for flip in found)
    assert not any(a <= b for a in sets for b in sets if a is not b)
    assert sets[0] == changed(one(Net(3), random_graph(3)))


def test_flip_a_regression_crosses_the_value() -> None:
    model, data = Net(7, outputs=1), random_graph(7)
    value = float(twin.predict(model, data, twin.undirected(data)))
    for to in (value - 0.2, value + 0.2):
        found = one(model, data, task="regression", to=to)
        assert found.flipped
        assert (found.value > to) != (found.value_after > to)
        assert found.value_after == pytest.approx(found.prediction_after)
        side = "above" if found.value_after > to else "below"
        assert f", {side} {to:g}.".replace("-", "−") in found.sentence()


class Count(nn.Module):
    """One logit: half the number of edges, less a threshold."""

    def __init__(self, threshold: float) -> None:
        super().__init__()
        self.threshold = threshold

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        edges = torch.zeros(int(batch.max()) + 1, 1)
        edges.index_add_(0, batch[edge_index[0]], torch.full((edge_index.size(1), 1), 0.5))
        return edges - self.threshold


def test_flip_a_logit_of_exactly_zero_is_class_0_before_and_after() -> None:
    data = random_graph(0, nodes=6, edges=6)
    edges = data.num_edges / 2
    assert not one(Count(edges), data, task="binary", return_type="raw").flipped
    found = one(Count(edges - 1), data, task="binary", return_type="raw")
    assert (found.prediction, found.prediction_after, found.size) == (1, 0, 2)  # a tie is no flip


def test_flip_of_one_logit_to_the_class_that_is_predicted_raises() -> None:
    options: dict[str, Any] = {"task": "binary", "return_type": "raw", "target": 0}
    data = random_graph(0, nodes=6, edges=6)
    with pytest.raises(InputError, match="other than the predicted one, 1"):
        one(Count(3), data, to=1, **options)
    assert one(Count(3), data, to=0, **options).prediction_after == 0


class Labels(nn.Module):
    """Two labels: one that few edges predict, and one that many do."""

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        more = Count(3.5)(x, edge_index, batch)
        return torch.cat([more, 4 - more], dim=1)


def test_flip_of_several_labels_says_whether_the_label_is_predicted() -> None:
    data = random_graph(0, nodes=6, edges=6)
    lost = one(Labels(), data, task="multilabel", return_type="raw", target=0)
    assert lost.sentence().endswith("and class 0 is no longer predicted.")
    gained = one(Labels(), data, task="multilabel", return_type="raw", target=0, add=True)
    assert gained.sentence() == lost.sentence()
    few = Data(x=data.x, edge_index=data.edge_index[:, :0])
    found = one(
        Labels(), few, task="multilabel", return_type="raw", target=0,
        add=[[0, 0, 0, 0], [1, 2, 3, 4]],
    )  # fmt: skip
    assert found.sentence().endswith("and class 0 is predicted.")


@pytest.mark.parametrize("name", ["rather_than", "above"])
def test_flip_a_contrast_is_refused_with_what_to_pass(name: str) -> None:
    with pytest.raises(TypeError, match="Pass `to`"):
        eigsearch.flip(Net(0), random_graph(0), **{name: 1})


def test_flip_takes_levels() -> None:
    data = random_graph(3)
    data.scale = torch.ones(int(data.num_nodes))
    found = one(Net(3), data, levels={"scale": "node"})
    assert found.size == one(Net(3), random_graph(3)).size


class Weighted(nn.Module):
    """Weights messages by an attribute whose name says nothing."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv = GraphConv(3, 2)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor, strength: Tensor) -> Tensor:
        return global_add_pool(self.conv(x, edge_index, strength).tanh(), batch)


def test_flip_add_extends_an_attribute_of_as_many_edges_as_nodes() -> None:
    ring = torch.stack([torch.arange(6), torch.arange(6).roll(-1)])
    x = torch.randn(6, 3, generator=torch.Generator().manual_seed(1))
    data, model = Data(x=x, edge_index=ring, strength=torch.ones(6)), Weighted().eval()
    flipped = 0
    for found in eigsearch.flip(model, data, add=True, answers=5, max_size=4):
        edges = torch.cat([ring[:, ~found.edge_mask], found.added], dim=1)
        batch = torch.zeros(6, dtype=torch.long)
        with torch.no_grad():
            after = int(model(x, edges, batch, torch.ones(edges.size(1))).argmax())
        assert after == found.prediction_after != found.prediction
        flipped += found.added.numel() > 0
    assert flipped > 0


def test_flip_at_another_size_raises() -> None:
    with pytest.raises(UnsupportedError, match="counterfactual"):
        one(Net(3), random_graph(3)).at(2)


class NodeNet(nn.Module):
    """Two GIN layers over nodes."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = GINConv(nn.Linear(3, 6)), GINConv(nn.Linear(6, 2))
        self.eval()

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.second(self.first(x, edge_index).tanh(), edge_index)


@pytest.mark.parametrize("add", [False, True])
def test_flip_a_node_changes_what_the_whole_graph_gives_it(add: bool) -> None:
    model, data = NodeNet(), random_graph(5, nodes=20, edges=30)
    flipped = 0
    for node in range(8):
        found = one(model, data, node=node, add=add)
        if not found.flipped:
            continue
        flipped += 1
        kept = data.edge_index[:, ~found.edge_mask]
        added = torch.cat([found.added, found.added.flip(0)], dim=1)
        with torch.no_grad():
            before = model(data.x, data.edge_index)[node]
            after = model(data.x, torch.cat([kept, added], dim=1))[node]
        assert found.prediction == int(before.argmax())
        assert found.prediction_after == int(after.argmax()) != int(before.argmax())
    assert flipped >= 2


def test_flip_without_an_answer_says_so() -> None:
    model = Net(0)
    model.head.weight.data.zero_()
    model.head.bias = nn.Parameter(torch.tensor([0.0, 1.0]))
    found = one(model, random_graph(0), max_size=3)
    assert not found.flipped
    assert found.size == 0
    assert found.sentence() == (
        "No set of at most 3 edges was found whose change flips the prediction "
        "(14 could be removed)."
    )
    assert eigsearch.flip(model, random_graph(0), max_size=2, answers=3) == []


def test_flip_only_given_pairs_are_added() -> None:
    model, data = Net(1), random_graph(1, nodes=8, edges=7)
    pairs = torch.tensor(twin.within_two_hops(data)[:3]).t()
    found = eigsearch.flip(model, data, add=pairs, search="exhaustive", max_size=2, answers=50)
    assert isinstance(found, list)
    allowed = {tuple(pair) for pair in pairs.t().tolist()}
    assert found
    assert all({tuple(p) for p in flip.added.t().tolist()} <= allowed for flip in found)


def test_flip_given_pair_and_its_reverse_are_one_edge() -> None:
    model, data = Net(1), random_graph(1, nodes=8, edges=7)
    pairs = torch.tensor(twin.within_two_hops(data)[:3]).t()
    options = {"search": "exhaustive", "max_size": 2, "answers": 50}
    once = eigsearch.flip(model, data, add=pairs, **options)
    twice = eigsearch.flip(model, data, add=torch.cat([pairs, pairs.flip(0)], 1), **options)
    assert isinstance(once, list)
    assert isinstance(twice, list)
    assert [each.added.tolist() for each in twice] == [each.added.tolist() for each in once]
    assert once[0].additions == twice[0].additions == 3


@pytest.mark.parametrize("ends", [[[], []], [[0, 1], [1, 0]], [[0], [0]]])
def test_flip_without_pairs_that_share_a_neighbour_adds_nothing(ends: list[list[int]]) -> None:
    """A graph of one bond has no two nodes that could be joined; a data set may hold it."""
    edge_index = torch.tensor(ends, dtype=torch.long)
    data = Data(x=torch.ones(3, 3), edge_index=edge_index)
    found = one(Net(0), data, add=True)
    assert found.additions == 0
    assert found.added.shape == (2, 0)
    assert found.size == one(Net(0), data).size


def test_flip_added_self_loop_is_one_edge() -> None:
    """A self-loop is its own reverse: joined both ways the model would see it twice."""
    model, data = Net(1), random_graph(1, nodes=8, edges=7)
    full = torch.tensor([[node, node] for node in range(8)]).t()
    answers = eigsearch.flip(model, data, add=full, search="exhaustive", max_size=2, answers=99)
    assert isinstance(answers, list)
    grown = [each for each in answers if each.added.numel()]
    assert grown
    for each in grown:
        kept = data.edge_index[:, ~each.edge_mask]
        edges = torch.cat([kept, each.added], dim=1)
        output = model(data.x, edges, torch.zeros(8, dtype=torch.long)).detach()
        assert int(output.argmax()) == each.prediction_after
        value = float(output.softmax(1)[0, each.target])
        assert each.value_after == pytest.approx(value, abs=1e-5)


def test_flip_is_saved_with_what_it_adds(tmp_path: Path) -> None:
    found = one(Net(3), random_graph(3), add=True)
    values = json.loads(found.save(tmp_path / "flip.json").read_text())
    assert values["added"] == found.added.tolist()
    assert values["flipped"] is True
    assert found.added.numel()
    assert "the prediction is class" in found.sentence()
    back = FlipExplanation.load(tmp_path / "flip.json")
    assert back.sentence() == found.sentence()
    assert torch.equal(back.added, found.added)
    assert torch.equal(back.edge_mask, found.edge_mask)


def test_flip_load_another_explanation_raises(tmp_path: Path) -> None:
    plain = eigsearch.explain(Net(3), random_graph(3)).save(tmp_path / "plain.json")
    with pytest.raises(InputError, match="no counterfactual"):
        FlipExplanation.load(plain)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "the predicted class": ({"to": 1}, "other than the predicted"),
    "no class": ({"to": 7}, "from 0 to 1"),
    "no search": ({"search": "sweep"}, "greedy, exhaustive"),
    "no size": ({"max_size": 0}, "`max_size`"),
    "no answers": ({"answers": 0}, "`answers`.*number of answers"),
    "a word": ({"add": "yes"}, "pairs of nodes"),
    "nothing to add": ({"add": None}, "True, False or pairs of nodes"),
    "pairs of different length": ({"add": [[0, 1], [2]]}, "pairs of nodes in shape"),
    "no edge that goes": ({"groups": "none"}, "leave `groups` out"),
    "no pairs": ({"add": torch.zeros(3)}, "pairs of nodes"),
    "pairs of floats": ({"add": torch.zeros(2, 1)}, "got torch.float32"),
    "an edge that is there": ({"add": random_graph(0).edge_index}, "without an edge"),
    "no number": ({"task": "regression", "target": 0, "to": float("nan")}, "`to`.*number"),
    "a number as a word": ({"to": "1"}, "`to`.*number"),
    "no nodes": ({"add": torch.tensor([[0], [99]])}, "from 0 to 8"),
    "no value": ({"task": "regression", "target": 0}, "`to`"),
    "another target": ({"target": 0}, "predicted class, 1"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_flip_refuses_in_a_sentence(name: str) -> None:
    options, match = REFUSED[name]
    model = Net(0)
    data = next(g for g in map(random_graph, range(50)) if _predicted(model, g) == 1)
    with pytest.raises(InputError, match=match):
        eigsearch.flip(model, data, **options)


def _predicted(model: nn.Module, data: Data) -> int:
    return int(twin.predict(model, data, twin.undirected(data)).argmax())


BEYOND = [(0, 3), (0, 5), (1, 2), (1, 4), (1, 5), (2, 4), (2, 5)]  # two reach node 3


class Steep(Net):
    """Predicts each node."""

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
        return self.head(self.second(self.first(x, edge_index).relu(), edge_index))


class AtNode(nn.Module):
    """Predicts one node as if it were the graph, for the twin."""

    def __init__(self, net: Steep, node: int) -> None:
        super().__init__()
        self.net, self.node = net, node

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return self.net(x, edge_index)[self.node][None]


@pytest.mark.parametrize("seed", [0, 11, 62, 77, 102])
def test_flip_node_exhaustive_removes_what_only_an_addition_brings_into_reach(
    seed: int, tmp_path: Path
) -> None:
    features = torch.randn(6, 3, generator=torch.Generator().manual_seed(seed))
    both = torch.tensor([*BEYOND, *((v, u) for u, v in BEYOND)]).t()
    model, data = Steep(seed, outputs=2 + seed % 2), Data(x=features, edge_index=both)
    expected = set(twin.flips(AtNode(model, 3), data, add=True))
    options = {"node": 3, "add": True, "search": "exhaustive", "max_size": 3}
    answers = eigsearch.flip(model, data, answers=1000, **options)
    assert isinstance(answers, list)
    smallest = [found for found in answers if found.size == answers[0].size]
    assert {changed(found) for found in smallest} == expected
    for found in smallest:
        edges = sorted(set(BEYOND) ^ changed(found))
        after = twin.predict(AtNode(model, 3), data, edges).softmax(0)
        assert found.value_after == pytest.approx(float(after[found.target]), abs=1e-5)
        back = FlipExplanation.load(found.save(tmp_path / "flip.json"))
        assert changed(back) == changed(found)
    beyond = [pairs for pairs in expected if pairs & set(BEYOND[2:])]
    assert bool(beyond) == (seed > 0)
