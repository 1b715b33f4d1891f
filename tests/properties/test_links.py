"""Links against plain calls of the model and the slow twin."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import GAE, GCNConv, SAGEConv

import eigsearch
from eigsearch import explain, explain_dataset
from eigsearch.errors import InputError, ModelError
from tests.nets import house
from tests.reference import twin

FEATURES = 5


class LinkNet(nn.Module):
    """Two layers, and for each pair of nodes a row of class scores."""

    def __init__(self, classes: int = 1, conv: type = SAGEConv) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.conv1, self.conv2 = conv(FEATURES, 8), conv(8, 8)
        self.head = nn.Linear(16, classes)
        self.double()

    def states(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.conv2(self.conv1(x, edge_index).tanh(), edge_index).tanh()

    def forward(self, x: Tensor, edge_index: Tensor, edge_label_index: Tensor) -> Tensor:
        u, v = self.states(x, edge_index)[edge_label_index]
        return self.head(torch.cat([u * v, (u - v).abs()], dim=-1)).squeeze(-1) * 4


class Renamed(LinkNet):
    def forward(self, x: Tensor, edge_index: Tensor, pairs: Tensor) -> Tensor:
        return super().forward(x, edge_index, pairs)


class OfData(LinkNet):
    def forward(self, data: Data) -> Tensor:
        return super().forward(data.x, data.edge_index, data.edge_label_index)


class OfDataAndPairs(LinkNet):
    def forward(self, data: Data, pairs: Tensor) -> Tensor:
        return super().forward(data.x, data.edge_index, pairs)


class EncoderDecoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = LinkNet()

    def encode(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.net.states(x, edge_index)

    def decode(self, z: Tensor, edge_label_index: Tensor) -> Tensor:
        u, v = z[edge_label_index]
        return self.net.head(torch.cat([u * v, (u - v).abs()], dim=-1)).squeeze(-1) * 4


def graph() -> Data:
    data = house()
    return Data(x=data.x, edge_index=data.edge_index)


def predict(model: Any) -> twin.Predict:
    return lambda data: model(data.x, data.edge_index, data.edge_label_index)


def assert_same(ex: eigsearch.SubgraphExplanation, answer: twin.Answer) -> None:
    score = torch.tensor(answer.score, dtype=torch.float64)
    torch.testing.assert_close(ex.edge_score, score, atol=1e-5, rtol=1e-5)
    assert ex.curve.size.tolist() == answer.sizes
    assert ex.curve.fidelity_plus.tolist() == pytest.approx(answer.fidelity_plus, abs=1e-5)
    assert ex.curve.fidelity_minus.tolist() == pytest.approx(answer.fidelity_minus, abs=1e-5)
    assert ex.edge_mask.tolist() == answer.mask
    assert ex.value == pytest.approx(answer.value, abs=1e-5)


ASKED = {
    "classes": (3, twin.Asked(2)),
    "one logit, link": (1, twin.Asked(1, "binary_classification")),
    "one logit, no link": (1, twin.Asked(0, "binary_classification")),
    "rating": (1, twin.Asked(0, "regression")),
}


@pytest.mark.parametrize("kind", ASKED)
@pytest.mark.parametrize("engine", ["auto", "incremental"])
@pytest.mark.parametrize(("conv", "hops"), [(SAGEConv, 2), (GCNConv, 3)])
def test_explain_link_is_what_the_slow_twin_finds(
    kind: str, conv: type, hops: int, engine: str
) -> None:
    classes, asked = ASKED[kind]
    model, data = LinkNet(classes, conv).eval(), graph()
    for link in ((0, 5), (4, 4), (8, 1)):
        question = twin.Asked(asked.target, asked.task, link=link)
        answer = twin.explain(predict(model), data, question, hops=hops)
        ex = explain(model, data, link=link, target=asked.target, task=asked.task, engine=engine)
        assert ex.link == link
        assert ex.node is None
        assert_same(ex, answer)


@pytest.mark.parametrize("model", [Renamed(), OfData(), OfDataAndPairs(), EncoderDecoder()])
def test_explain_link_reaches_the_model_however_it_takes_links(model: nn.Module) -> None:
    ex = explain(model.eval(), graph(), link=(0, 5))
    expected = explain(LinkNet().eval(), graph(), link=(0, 5))
    torch.testing.assert_close(ex.edge_score, expected.edge_score)
    assert ex.edge_mask.tolist() == expected.edge_mask.tolist()
    assert expected.config["called_as"] == "model(x, edge_index, edge_label_index)"


CALLS = {
    Renamed: "model(x, edge_index, pairs)",
    OfData: "model(data)",
    OfDataAndPairs: "model(data, pairs)",
    EncoderDecoder: "model.decode(model.encode(x, edge_index), edge_label_index)",
}


@pytest.mark.parametrize("kind", CALLS)
def test_explain_link_states_how_the_model_was_called(kind: type) -> None:
    assert explain(kind().eval(), graph(), link=(0, 5)).config["called_as"] == CALLS[kind]


def test_explain_link_forward_finds_the_links_in_the_batch() -> None:
    model = LinkNet().eval()

    def forward(model: Any, batch: Any) -> Tensor:
        return model(batch.x, batch.edge_index, batch.edge_label_index)

    ex = explain(model, graph(), link=(0, 5), forward=forward)
    assert ex.edge_mask.tolist() == explain(model, graph(), link=(0, 5)).edge_mask.tolist()


def test_explain_link_gae_is_read_as_probabilities() -> None:
    class Encoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.conv = GCNConv(FEATURES, 4).double()

        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            return self.conv(x, edge_index)

    model, data = GAE(Encoder()).eval(), graph()
    ex = explain(model, data, link=(0, 5))
    z = model.encode(data.x, data.edge_index)
    value = float(model.decode(z, torch.tensor([[0], [5]])))
    assert ex.config["return_type"] == "probs"
    assert ex.value == pytest.approx(value if ex.target else 1 - value, abs=1e-5)


def test_explain_link_one_output_without_labels_is_read_as_log_odds_and_says_so() -> None:
    ex = explain(LinkNet().eval(), graph(), link=(0, 5))
    assert ex.config["task"] == "binary_classification"
    assert "one column of a link" in ex.config["read_as"]
    assert "task='regression'" in ex.note


def test_explain_link_labels_of_nodes_are_not_those_of_links() -> None:
    data = graph()
    data.y = torch.arange(9)
    assert explain(LinkNet().eval(), data, link=(0, 5)).config["task"] == "binary_classification"
    data.edge_label_index, data.edge_label = torch.tensor([[0, 1], [2, 3]]), torch.tensor([3.5, 2])
    assert explain(LinkNet().eval(), data, link=(0, 5)).config["task"] == "regression"


def test_explain_link_a_negative_link_is_explained_as_no_link() -> None:
    model, data = LinkNet().eval(), graph()
    with torch.no_grad():
        model.head.bias.fill_(-3.0)
    ex = explain(model, data, link=(0, 5))
    logit = float(model(data.x, data.edge_index, torch.tensor([[0], [5]])))
    assert logit < 0
    assert ex.target == ex.prediction == 0
    assert ex.value == pytest.approx(float(torch.tensor(-logit).sigmoid()), abs=1e-5)
    assert "P(no link)" in ex.sentence()


def test_explain_dataset_links_are_those_of_single_calls() -> None:
    model, data = LinkNet().eval(), graph()
    links = torch.tensor([[0, 3, 8, 2], [5, 3, 1, 7]])
    several = list(explain_dataset(model, data, link=links))
    assert [ex.link for ex in several] == [(0, 5), (3, 3), (8, 1), (2, 7)]
    for ex in several:
        alone = explain(model, data, link=ex.link)
        assert ex.edge_mask.tolist() == alone.edge_mask.tolist()
        torch.testing.assert_close(ex.edge_score, alone.edge_score, atol=1e-5, rtol=1e-5)
    pairs = list(explain_dataset(model, data, link=[(0, 5), (3, 3)]))
    assert [ex.link for ex in pairs] == [(0, 5), (3, 3)]


def test_explain_link_ends_without_edges_stay() -> None:
    data = graph()
    data.x = torch.cat([data.x, torch.ones(2, FEATURES).double()])
    ex = explain(LinkNet().eval(), data, link=(9, 0))
    assert ex.node_mask[[0, 9]].all()
    empty = explain(LinkNet().eval(), data, link=(9, 10))
    assert empty.num_groups == 0
    assert "no edge that could be removed" in empty.note


def with_edge(data: Data, u: int, v: int) -> Data:
    more = torch.tensor([[u, v], [v, u]])
    return Data(x=data.x, edge_index=torch.cat([data.edge_index, more], dim=1))


def test_explain_link_drop_is_the_graph_without_the_link() -> None:
    model, data = LinkNet().eval(), graph()
    present = with_edge(data, 0, 5)
    expected = explain(model, data, link=(0, 5))
    dropped = explain(model, present, link=(0, 5), target_link="drop")
    assert dropped.edge_mask[:-2].tolist() == expected.edge_mask.tolist()
    assert not dropped.edge_mask[-2:].any()
    assert dropped.value == pytest.approx(expected.value, abs=1e-6)
    assert "target_link='drop'" in dropped.note
    absent = explain(model, data, link=(0, 5), target_link="drop")
    assert absent.edge_mask.tolist() == expected.edge_mask.tolist()


def test_explain_link_that_was_chosen_itself_is_named_in_the_note() -> None:
    model, data = LinkNet().eval(), with_edge(graph(), 0, 5)
    kept = explain(model, data, link=(0, 5), sparsity=0.0, search="fixed", size=100)
    assert bool(kept.edge_mask[-1])
    assert "the link itself" in kept.note
    assert "the link itself" not in explain(model, graph(), link=(0, 5), sparsity=0.0).note


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ((0, 9), "node from 0 to 8"),
        ((-1, 3), "node from 0 to 8"),
        ((0, 1, 2), "two nodes"),
        (5, "two nodes"),
        ((("user", 3), ("movie", 7)), "without types"),
        (torch.tensor([[0, 1], [2, 3]]), "one pair of nodes"),
        (torch.tensor([0.5, 1.0]), "two nodes"),
    ],
)
def test_explain_link_that_does_not_exist_is_refused(link: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        explain(LinkNet().eval(), graph(), link=link)


def test_explain_link_and_node_at_once_are_refused() -> None:
    with pytest.raises(InputError, match="`node` or `link`"):
        explain(LinkNet().eval(), graph(), link=(0, 1), node=2)


class NodeNet(LinkNet):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.states(x, edge_index)


class Ignores(LinkNet):
    def forward(self, x: Tensor, edge_index: Tensor, edge_label_index: Tensor) -> Tensor:
        return self.states(x, edge_index)


def test_explain_link_of_a_model_without_links_is_refused() -> None:
    with pytest.raises(InputError, match="`edge_label_index`"):
        explain(NodeNet().eval(), graph(), link=(0, 1))
    with pytest.raises(ModelError, match="one row for each of 1 links"):
        explain(Ignores().eval(), graph(), link=(0, 1))


class Transposed(LinkNet):
    """Takes links as `[L, 2]`."""

    def forward(self, x: Tensor, edge_index: Tensor, pairs: Tensor) -> Tensor:
        return super().forward(x, edge_index, torch.stack([pairs[:, 0], pairs[:, 1]]))


def test_explain_link_of_a_model_that_takes_other_shapes_says_how_to_call_it() -> None:
    model, data = Transposed().eval(), graph()
    with pytest.raises(ModelError, match=r"two rows, \[2, L\].*forward="):
        explain(model, data, link=(0, 5))

    def forward(model: Any, batch: Any) -> Tensor:
        return model(batch.x, batch.edge_index, batch.edge_label_index.t())

    ex = explain(model, data, link=(0, 5), forward=forward)
    assert ex.edge_mask.tolist() == explain(LinkNet().eval(), data, link=(0, 5)).edge_mask.tolist()


class PairsOfNodes(LinkNet):
    """Takes links as `[L, 2]`, and gives two numbers for what has two rows."""

    def forward(self, x: Tensor, edge_index: Tensor, pairs: Tensor) -> Tensor:
        return self.states(x, edge_index)[pairs].mean(dim=1).sum(dim=-1)


class OfNodes(LinkNet):
    """Gives a number for each node, whatever the link."""

    def forward(self, x: Tensor, edge_index: Tensor, edge_label_index: Tensor) -> Tensor:
        return self.states(x, edge_index).sum(dim=-1)


class Unpacks(LinkNet):
    """Takes links as `[L, 2]`, and unpacks their transpose."""

    def forward(self, x: Tensor, edge_index: Tensor, pairs: Tensor) -> Tensor:
        u, v = pairs.t()
        return super().forward(x, edge_index, torch.stack([u, v]))


class OneAtATime(LinkNet):
    """Gives the scores of one link as a vector, and takes no two."""

    def forward(self, x: Tensor, edge_index: Tensor, edge_label_index: Tensor) -> Tensor:
        if edge_label_index.size(1) > 1:
            raise RuntimeError("one link, please")
        return super().forward(x, edge_index, edge_label_index).squeeze(0)


@pytest.mark.parametrize("links", [1, 2, 3])
@pytest.mark.parametrize("model", [PairsOfNodes(), OfNodes(), Unpacks(), OneAtATime(3)])
def test_explain_link_of_numbers_that_are_no_row_of_the_link_is_refused(
    model: nn.Module, links: int
) -> None:
    """Two numbers of a model that takes `[L, 2]` would else be read as the link's two classes."""
    pairs = torch.tensor([[0, 3, 8], [5, 3, 1]])[:, :links]
    with pytest.raises(ModelError, match=r"\[2, L\].*forward="):
        list(explain_dataset(model.eval(), graph(), link=pairs))


class Squeezes(LinkNet):
    def forward(self, x: Tensor, edge_index: Tensor, edge_label_index: Tensor) -> Tensor:
        return super().forward(x, edge_index, edge_label_index).squeeze()


@pytest.mark.parametrize("classes", [1, 3])
def test_explain_link_of_a_squeezed_row_is_that_of_the_row(classes: int) -> None:
    ex = explain(Squeezes(classes).eval(), graph(), link=(0, 5))
    expected = explain(LinkNet(classes).eval(), graph(), link=(0, 5))
    torch.testing.assert_close(ex.edge_score, expected.edge_score)
    assert ex.value == pytest.approx(expected.value)


class LinksFirst(EncoderDecoder):
    def decode(self, edge_index: Tensor, z: Tensor) -> Tensor:
        return super().decode(z, edge_index)


class OfTwoSets(EncoderDecoder):
    def decode(self, z: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return super().decode(z, torch.cat([positive, negative], dim=1))


class OfAllPairs(EncoderDecoder):
    def decode(self, z: Tensor) -> Tensor:
        return z @ z.t()


class OfBothEnds(EncoderDecoder):
    def decode(self, source: Tensor, target: Tensor) -> Tensor:
        return (source * target).sum(dim=-1)


def test_explain_link_decoders_take_links_by_name_or_are_refused() -> None:
    ex = explain(LinksFirst().eval(), graph(), link=(0, 5))
    assert ex.config["called_as"] == "model.decode(edge_label_index, model.encode(x, edge_index))"
    assert ex.value == pytest.approx(explain(LinkNet().eval(), graph(), link=(0, 5)).value)
    with pytest.raises(InputError, match=r"decode .*z, positive, negative.*forward="):
        explain(OfTwoSets().eval(), graph(), link=(0, 5))
    with pytest.raises(InputError, match=r"decode .*parameters z\).*forward="):
        explain(OfAllPairs().eval(), graph(), link=(0, 5))


@pytest.mark.parametrize("nodes", [2, 9])
def test_explain_link_a_decoder_of_both_ends_is_refused(nodes: int) -> None:
    part = graph().subgraph(torch.arange(nodes))
    with pytest.raises(ModelError, match=r"forward=lambda model, batch"):
        explain(OfBothEnds().eval(), part, link=(0, 1))


class OfTenNodes(LinkNet):
    """Has an embedding for each node of another graph."""

    def forward(self, x: Tensor, edge_index: Tensor, edge_label_index: Tensor) -> Tensor:
        return super().forward(x + torch.ones(10, 1), edge_index, edge_label_index)


def test_explain_link_a_misfit_elsewhere_in_the_model_is_not_blamed_on_links() -> None:
    with pytest.raises(
        RuntimeError, match=r"\(9\) must match the size of tensor b \(10\)"
    ) as error:
        explain(OfTenNodes().eval(), graph(), link=(0, 5))
    assert not isinstance(error.value, ModelError)


class Timed(LinkNet):
    """Reads a time of each link."""

    def forward(
        self, x: Tensor, edge_index: Tensor, edge_label_index: Tensor, edge_label_time: Tensor
    ) -> Tensor:
        return super().forward(x, edge_index, edge_label_index) * edge_label_time


class MaybeTimed(Timed):
    def forward(
        self,
        x: Tensor,
        edge_index: Tensor,
        edge_label_index: Tensor,
        edge_label_time: Tensor | None = None,
    ) -> Tensor:
        time = torch.ones(1) if edge_label_time is None else edge_label_time
        return super().forward(x, edge_index, edge_label_index, time)


@pytest.mark.parametrize("count", [3, 9])  # of which the last is that of the nodes as well
def test_explain_link_attributes_of_several_links_are_refused_or_left_out(count: int) -> None:
    data = graph()
    data.edge_label_index = torch.arange(2 * count).reshape(2, count) % 9
    data.edge_label_time = torch.linspace(1, 2, count)
    with pytest.raises(InputError, match="`edge_label_time`, with a row for each link"):
        explain(Timed().eval(), data, link=(0, 5))
    plain = explain(LinkNet().eval(), graph(), link=(0, 5))
    optional = explain(MaybeTimed().eval(), data, link=(0, 5))
    assert optional.value == pytest.approx(plain.value)
    assert "Left out `edge_label_time`" in optional.note
    data.edge_label_time = torch.tensor([2.0])
    twice = explain(Timed().eval(), data, link=(0, 5))
    torch.testing.assert_close(twice.edge_score, 2 * plain.edge_score)


def test_explain_dataset_links_of_an_iterator_are_all_explained() -> None:
    model, data, pairs = LinkNet().eval(), graph(), [(0, 5), (8, 1)]
    assert [ex.link for ex in explain_dataset(model, data, link=iter(pairs))] == pairs
    assert [ex.link for ex in eigsearch.flip_dataset(model, data, link=iter(pairs))] == pairs
    assert list(explain_dataset(model, data, link=torch.zeros(2, 0, dtype=torch.long))) == []


def test_explain_link_of_a_graph_that_lists_links_of_a_larger_one_is_refused() -> None:
    data = graph()
    data.edge_label_index = torch.tensor([[0, 3, 8], [5, 3, 1]])
    with pytest.raises(InputError, match=r"from 0 to 4 \(got 8\).*subgraph"):
        explain(LinkNet().eval(), data.subgraph(torch.arange(5)), link=(0, 4))


def test_subgraph_of_a_link_leaves_out_what_numbers_nodes_of_the_whole_graph() -> None:
    data = graph()
    data.edge_label_index = torch.tensor([[0, 3, 8], [5, 3, 1]])
    data.edge_label, data.name = torch.ones(3), "house"
    model = LinkNet().eval()
    ex = explain(model, data, link=(0, 5))
    part = ex.subgraph()
    assert set(part.keys()) == {"x", "edge_index", "name"}
    place = ex.node_mask.cumsum(0) - 1
    logit = model(part.x, part.edge_index, place[torch.tensor([[0], [5]])])
    assert float(ex.found.kept) == pytest.approx(torch.sigmoid(logit.abs()).item(), abs=1e-6)
