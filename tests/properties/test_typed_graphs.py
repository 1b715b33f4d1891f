"""Typed graphs against plain calls of the model and the slow twin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.transforms import ToUndirected

import eigsearch
from eigsearch import explain, explain_dataset
from eigsearch.errors import InputError, ModelError
from tests.reference import twin, typed_twin
from tests.typed_nets import ENCODERS, GROUPS, REVERSE, GraphNet, LinkNet, NodeNet, make, shop

LINK = (("user", 0), ("item", 2))
LOCAL = [name for name in ENCODERS if name != "HAN"]


def predict(model: Any) -> typed_twin.Predict:
    def row(graph: HeteroData, nodes: Sequence[typed_twin.Node]) -> Tensor:
        arguments: list[Any] = [graph.x_dict, graph.edge_index_dict]
        if len(nodes) == 2:
            arguments.append(torch.tensor([[nodes[0][1]], [nodes[1][1]]]))
        with torch.no_grad():
            output = model(*arguments)
        return output[nodes[0][1]] if len(nodes) == 1 else output

    return row


def flat(values: dict[Any, Tensor]) -> list[Any]:
    return torch.cat(list(values.values())).tolist()


def assert_same(ex: eigsearch.SubgraphExplanation, answer: twin.Answer) -> None:
    assert ex.value == pytest.approx(answer.value, abs=1e-6)
    assert flat(ex.edge_score) == pytest.approx(answer.score, abs=1e-6)
    assert ex.curve.size.tolist() == answer.sizes
    assert ex.curve.fidelity_plus.tolist() == pytest.approx(answer.fidelity_plus, abs=1e-6)
    assert ex.curve.fidelity_minus.tolist() == pytest.approx(answer.fidelity_minus, abs=1e-6)
    assert flat(ex.edge_mask) == answer.mask


@pytest.mark.parametrize("engine", ["auto", "incremental"])
@pytest.mark.parametrize("encoder", ENCODERS)
def test_explain_typed_node_is_what_the_slow_twin_finds(encoder: str, engine: str) -> None:
    model, data = make(NodeNet, encoder), shop()
    hops = None if encoder == "HAN" else 2
    for node in (("user", 0), ("user", 4)):
        ex = explain(model, data, node=node, target=1, return_type="raw", engine=engine)
        answer, _ = typed_twin.explain(predict(model), data, twin.Asked(1), [node], REVERSE, hops)
        assert ex.node == node
        assert_same(ex, answer)


@pytest.mark.parametrize("engine", ["auto", "incremental"])
@pytest.mark.parametrize("encoder", ENCODERS)
def test_explain_typed_link_is_what_the_slow_twin_finds(encoder: str, engine: str) -> None:
    model, data = make(LinkNet, encoder), shop()
    asked = twin.Asked(1, "binary_classification")
    hops = None if encoder == "HAN" else 2
    ex = explain(model, data, link=LINK, target=1, engine=engine)
    answer, _ = typed_twin.explain(predict(model), data, asked, LINK, REVERSE, hops)
    assert ex.link == LINK
    assert ex.config["called_as"] == "model(x_dict, edge_index_dict, edge_label_index)"
    assert_same(ex, answer)


def test_explain_typed_graph_is_what_plain_calls_give() -> None:
    model, graphs = make(GraphNet, "HeteroConv SAGE"), [shop(0), shop(1)]
    for ex, data in zip(explain_dataset(model, graphs), graphs, strict=True):
        batch = Batch.from_data_list([data])
        whole = model(batch.x_dict, batch.edge_index_dict, batch.batch_dict).softmax(-1)
        assert ex.value == pytest.approx(float(whole[0, ex.target]), abs=1e-6)
        part = Batch.from_data_list([ex.subgraph()])
        kept = model(part.x_dict, part.edge_index_dict, part.batch_dict).softmax(-1)
        assert float(ex.found.kept) == pytest.approx(float(kept[0, ex.target]), abs=1e-6)
        assert ex.num_groups == GROUPS


def test_explain_typed_han_is_given_the_whole_graph_one_candidate_a_call() -> None:
    ex = explain(make(NodeNet, "HAN"), shop(), node=("user", 0))
    assert ex.engine == "batched"
    assert "what else is in a batch" in ex.config["why_engine"]
    assert ex.num_groups == GROUPS


def test_explain_typed_han_whose_nodes_hardly_matter_to_others_is_what_the_twin_finds() -> None:
    """A batch changes its outputs by less than rounding may, and its gains by more."""
    model, data, node = make(NodeNet, "HAN"), shop(), ("user", 0)
    with torch.no_grad():
        model.encoder.layers[0].q *= 0.1
    ex = explain(model, data, node=node, target=1, return_type="raw")
    answer, _ = typed_twin.explain(predict(model), data, twin.Asked(1), [node], REVERSE, None)
    assert "what else is in a batch" in ex.config["why_engine"]
    assert_same(ex, answer)


@pytest.mark.parametrize("encoder", LOCAL)
def test_explain_typed_local_models_share_calls_on_computation_graphs(encoder: str) -> None:
    ex = explain(make(NodeNet, encoder), shop(), node=("user", 0), return_type="raw")
    assert "what else is in a batch" not in ex.config["why_engine"]
    assert ex.num_groups < GROUPS


def test_explain_typed_masks_have_every_type_of_the_input() -> None:
    data = shop()
    ex = explain(make(LinkNet, "HGT"), data, link=LINK)
    assert list(ex.edge_mask) == list(ex.edge_score) == data.edge_types
    assert list(ex.node_mask) == data.node_types
    for kind in data.edge_types:
        assert ex.edge_mask[kind].shape == ex.edge_score[kind].shape == (data[kind].num_edges,)
    assert ex.node_mask["user"][0]
    assert ex.node_mask["item"][2]
    assert sum(ex.sizes_by_type.values()) == sum(int(m.sum()) for m in ex.edge_mask.values())


def relabelled(data: HeteroData, seed: int) -> tuple[HeteroData, dict[str, Tensor]]:
    """Return a graph with other node numbers and another order of edges, and the new numbers."""
    rng = torch.Generator().manual_seed(seed)
    new = {k: torch.randperm(data[k].num_nodes, generator=rng) for k in data.node_types}
    other = HeteroData()
    for kind in data.node_types:
        other[kind].x = data[kind].x[new[kind].argsort()]
    for kind in data.edge_types:
        order = torch.randperm(data[kind].num_edges, generator=rng)
        u, v = data[kind].edge_index[:, order]
        other[kind].edge_index = torch.stack([new[kind[0]][u], new[kind[2]][v]])
    return other, new


def chosen(ex: Any, new: dict[str, Tensor] | None = None) -> set[tuple[Any, ...]]:
    edges = set()
    for kind, mask in ex.edge_mask.items():
        for u, v in ex.data[kind].edge_index[:, mask].t().tolist():
            ends = (u, v) if new is None else (int(new[kind[0]][u]), int(new[kind[2]][v]))
            edges.add((kind, *ends))
    return edges


def test_explain_typed_numbering_and_order_do_not_matter() -> None:
    model, data = make(LinkNet, "HGT"), shop()
    expected = explain(model, data, link=LINK)
    for seed in range(3):
        other, new = relabelled(data, seed)
        link = tuple((kind, int(new[kind][number])) for kind, number in LINK)
        assert chosen(explain(model, other, link=link)) == chosen(expected, new)


def test_explain_typed_names_of_types_do_not_matter() -> None:
    data = shop()
    names = {"user": "A", "item": "Z", "tag": "M"}
    other = HeteroData()
    for kind in data.node_types:
        other[names[kind]].x = data[kind].x
    for s, r, t in data.edge_types:
        other[names[s], r.replace("buys", "p"), names[t]].edge_index = data[s, r, t].edge_index

    model = make(LinkNet, "HeteroConv SAGE")
    kinds = dict(zip(other.edge_types, data.edge_types, strict=True))
    back = {new: old for old, new in names.items()}

    def forward(model: Any, batch: Any) -> Tensor:
        x = {back[kind]: value for kind, value in batch.x_dict.items()}
        edges = {kinds[kind]: value for kind, value in batch.edge_index_dict.items()}
        return model(x, edges, batch.edge_label_index)

    ex = explain(model, other, link=(("A", 0), ("Z", 2)), forward=forward, task="binary")
    expected = explain(model, data, link=LINK)
    assert flat(ex.edge_mask) == flat(expected.edge_mask)


# Groups -----------------------------------------------------------------------------------------


def pairs_of(ex: Any) -> list[int]:
    """The number of edges of each group, ascending."""
    return sorted(torch.bincount(ex.group[ex.group >= 0]).tolist())


def test_groups_of_types_named_rev_are_one_with_theirs_and_weigh_one() -> None:
    model, data = make(GraphNet, "HeteroConv SAGE"), shop()
    ex = explain(model, data)
    assert pairs_of(ex) == [1] * 6 + [2] * 10
    directed = explain(model, data, groups="directed")
    assert directed.num_groups == 7 + 7 + 6 + 4 + 2


def bought_by(data: HeteroData, shuffled: bool = False) -> HeteroData:
    """The same graph with another name of the reverse relation."""
    other = HeteroData()
    for kind in data.node_types:
        other[kind].x = data[kind].x
    for kind in data.edge_types:
        name = ("item", "bought_by", "user") if kind[1] == "rev_buys" else kind
        edge_index = data[kind].edge_index
        other[name].edge_index = edge_index.flip(1) if shuffled and name != kind else edge_index
    return other


def count_groups(data: HeteroData, **options: Any) -> int:
    model = make(GraphNet, "HeteroConv SAGE", data)
    return explain(model, data, **options).num_groups


def test_groups_of_swapped_pairs_are_found_without_a_name() -> None:
    assert count_groups(bought_by(shop(), shuffled=True)) == GROUPS


def test_groups_reverse_is_what_the_user_names() -> None:
    data = bought_by(shop())
    one_less = data["item", "bought_by", "user"].edge_index[:, 1:]
    data["item", "bought_by", "user"].edge_index = one_less
    assert count_groups(data) == GROUPS + 6  # the pairs differ, and nothing says they belong
    assert count_groups(data, reverse={"buys": "bought_by"}) == GROUPS
    types = {("user", "buys", "item"): ("item", "bought_by", "user")}
    assert count_groups(data, reverse=types) == GROUPS
    assert count_groups(shop(), reverse={"buys": None, "rev_buys": None}) == GROUPS + 7


def test_groups_of_to_undirected_merged_or_not() -> None:
    data = HeteroData()
    data["a"].x = torch.ones(4, 2, dtype=torch.float64)
    data["a", "to", "a"].edge_index = torch.tensor([[0, 1, 2], [1, 2, 3]])
    for merge, kinds in ((True, 1), (False, 2)):
        both = ToUndirected(merge=merge)(data.clone())
        assert len(both.edge_types) == kinds
        model = _Degrees()
        assert pairs_of(explain(model, both, node=("a", 1), task="regression")) == [2, 2, 2]
    assert pairs_of(explain(_Degrees(), data, node=("a", 1), task="regression")) == [1, 1, 1]


class _Degrees(torch.nn.Module):
    """Two sums over neighbours, of all types."""

    def forward(self, x_dict: Any, edge_index_dict: Any) -> Tensor:
        h = x_dict["a"]
        for _ in range(2):
            total = h
            for edge_index in edge_index_dict.values():
                total = total.index_add(0, edge_index[1], h[edge_index[0]])
            h = total
        return h[:, :1]


def test_groups_relation_tells_which_relation_matters() -> None:
    model, data = make(NodeNet, "HeteroConv SAGE"), shop()
    ex = explain(model, data, node=("user", 1), groups="relation", sparsity=0.0, target=0)
    for kind in (("user", "buys", "item"), ("user", "knows", "user")):
        rest = data.clone()
        for each in {kind, REVERSE[kind]}:
            rest[each].edge_index = rest[each].edge_index[:, :0]
        phis = [
            twin.phi(lambda _, d=d: model(d.x_dict, d.edge_index_dict)[1], d, twin.Asked(0))
            for d in (data, rest)
        ]
        assert float(ex.edge_score[kind].abs().max()) == pytest.approx(abs(phis[0] - phis[1]))


def test_groups_by_edge_type_are_a_partition_of_the_user() -> None:
    model, data = make(GraphNet, "HeteroConv SAGE"), shop()
    one = {kind: torch.zeros(data[kind].num_edges, dtype=torch.long) for kind in data.edge_types}
    one["tag", "marks", "item"] += torch.tensor([1, 1, 2, -1])
    ex = explain(model, data, groups=one, min_size=1)
    assert ex.num_groups == 3
    assert ex.config["groups"] == "partition of 26 edges"


# Odd graphs -------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoder", LOCAL)
def test_explain_typed_a_type_without_edges_stays_a_key(encoder: str) -> None:
    data = shop()
    data["tag", "marks", "item"].edge_index = torch.zeros(2, 0, dtype=torch.long)
    model = make(LinkNet, encoder, data)
    ex = explain(model, data, link=LINK)
    assert ex.edge_mask["tag", "marks", "item"].numel() == 0
    logit = float(model(data.x_dict, data.edge_index_dict, torch.tensor([[0], [2]])))
    assert ex.value == pytest.approx(torch.tensor(abs(logit)).sigmoid().item(), abs=1e-6)


def test_explain_typed_a_type_without_nodes_stays_a_key() -> None:
    data = shop()
    data["tag"].x = data["tag"].x[:0]
    for kind in (("tag", "marks", "item"), ("user", "owns", "tag")):
        data[kind].edge_index = torch.zeros(2, 0, dtype=torch.long)
    ex = explain(make(LinkNet, "HGT", data), data, link=LINK)
    assert ex.node_mask["tag"].numel() == 0


def test_explain_typed_a_type_that_cannot_reach_the_node_scores_zero() -> None:
    data = shop()
    data["item", "of", "shelf"].edge_index = torch.tensor([[0, 1], [0, 0]])
    data["shelf"].x = torch.ones(1, 2, dtype=torch.float64)
    ex = explain(make(NodeNet, "HeteroConv SAGE", data), data, node=("user", 0))
    assert ex.edge_score["item", "of", "shelf"].tolist() == [0, 0]


class OfData(LinkNet):
    def forward(self, data: HeteroData) -> Tensor:
        return super().forward(data.x_dict, data.edge_index_dict, data.edge_label_index)


class States(NodeNet):
    def forward(self, x_dict: Any, edge_index_dict: Any) -> Any:
        return {kind: h[:, :2] * 4 for kind, h in self.encoder(x_dict, edge_index_dict).items()}


def test_explain_typed_model_may_take_the_graph_as_one_object() -> None:
    data = shop()
    ex = explain(make(OfData, "HGT"), data, link=LINK)
    assert flat(ex.edge_mask) == flat(explain(make(LinkNet, "HGT"), data, link=LINK).edge_mask)
    assert ex.config["called_as"] == "model(data)"


def test_explain_typed_model_may_return_all_types() -> None:
    model, data = make(States, "HGT"), shop()
    for node in (("user", 1), ("item", 3)):
        ex = explain(model, data, node=node)
        row = model(data.x_dict, data.edge_index_dict)[node[0]][node[1]].softmax(-1)
        assert ex.value == pytest.approx(float(row[ex.target]), abs=1e-6)


def test_explain_dataset_typed_links_and_nodes_are_those_of_single_calls() -> None:
    model, data = make(LinkNet, "HGT"), shop()
    pairs = torch.tensor([[0, 3, 1], [2, 4, 1]])
    several = list(explain_dataset(model, data, link=(("user", "item"), pairs)))
    assert [ex.link for ex in several] == [
        (("user", u), ("item", v)) for u, v in pairs.t().tolist()
    ]
    for ex in several:
        assert flat(ex.edge_mask) == flat(explain(model, data, link=ex.link).edge_mask)
    nodes = list(explain_dataset(make(NodeNet, "HGT"), data, node=("user", [1, 2])))
    assert [ex.node for ex in nodes] == [("user", 1), ("user", 2)]
    mixed = list(explain_dataset(make(States, "HGT"), data, node=[("user", 1), ("item", 2)]))
    assert [ex.node for ex in mixed] == [("user", 1), ("item", 2)]


def test_explain_link_of_one_type_is_that_of_the_graph_without_types() -> None:
    from tests.properties.test_links import LinkNet as PlainNet
    from tests.properties.test_links import graph

    plain, model = graph(), PlainNet().eval()
    typed = HeteroData()
    typed["n"].x = plain.x
    typed["n", "e", "n"].edge_index = plain.edge_index

    def forward(net: Any, batch: Any) -> Tensor:
        store = batch["n"]
        return net(store.x, batch["n", "e", "n"].edge_index, batch.edge_label_index)

    ex = explain(model, typed, link=(("n", 0), ("n", 5)), forward=forward, task="binary")
    expected = explain(model, plain, link=(0, 5), task="binary")
    assert isinstance(plain, Data)
    assert ex.edge_mask["n", "e", "n"].tolist() == expected.edge_mask.tolist()
    twice = 2 * expected.edge_score  # an edge with its reverse weighs one, and not two
    torch.testing.assert_close(ex.edge_score["n", "e", "n"], twice)


def test_explain_typed_link_drop_leaves_out_the_edges_between_its_ends() -> None:
    model, data = make(LinkNet, "HGT"), shop()
    ex = explain(model, data, link=(("user", 0), ("item", 1)), target_link="drop")
    rest = data.clone()
    for kind in (("user", "buys", "item"), ("item", "rev_buys", "user")):
        rest[kind].edge_index = rest[kind].edge_index[:, [0, 2, 3, 4, 5, 6]]
    expected = explain(model, rest, link=(("user", 0), ("item", 1)))
    assert ex.value == pytest.approx(expected.value, abs=1e-6)
    assert chosen(ex) == chosen(expected)
    assert "target_link='drop'" in ex.note


# Bad input --------------------------------------------------------------------------------------


def spoilt(change: Any) -> HeteroData:
    data = shop()
    change(data)
    return data


def set_edges(data: HeteroData, value: Any) -> None:
    data["user", "buys", "item"].edge_index = value


USER = {"node": ("user", 0)}
BAD: dict[str, tuple[HeteroData, dict[str, Any], str]] = {
    "type": (shop(), {"node": ("person", 0)}, "one of user, item, tag"),
    "node": (shop(), {"node": ("user", 5)}, "type user to be from 0 to 4"),
    "number": (shop(), {"node": 3}, "named by its type"),
    "link": (shop(), {"link": (("user", 0), ("item", 6))}, "type item to be from 0 to 5"),
    "reverse": (shop(), {**USER, "reverse": {"sells": "buys"}}, "relations of the graph"),
    "back": (shop(), {**USER, "reverse": {"buys": "knows"}}, "from item to user"),
    "groups": (shop(), {**USER, "groups": {("a", "b", "c"): torch.ones(1)}}, "each edge type"),
    "edges": (spoilt(lambda d: set_edges(d, torch.tensor([[9], [0]]))), USER, "from 0 to 4"),
    "shape": (spoilt(lambda d: set_edges(d, torch.ones(3))), USER, "shape"),
    "dtype": (
        spoilt(lambda d: set_edges(d, torch.ones(2, 0))),
        USER,
        r"integers .* \(got torch.float32 of shape \[2, 0\]\)",
    ),
    "nan": (spoilt(lambda d: d["tag"].x.fill_(torch.nan)), USER, "finite"),
}


@pytest.mark.parametrize("case", BAD)
def test_explain_typed_bad_input_is_refused_in_a_sentence(case: str) -> None:
    data, asked, words = BAD[case]
    with pytest.raises(InputError, match=words):
        explain(make(LinkNet if "link" in asked else NodeNet, "HGT"), data, **asked)


def test_explain_typed_ends_of_another_type_than_the_labelled_links_are_refused() -> None:
    data = shop()
    data["user", "buys", "item"].edge_label_index = torch.tensor([[0], [2]])
    link = (("tag", 0), ("item", 2))
    with pytest.raises(InputError, match="link from user to item"):
        explain(make(LinkNet, "HGT"), data, link=link)


@pytest.mark.parametrize("ends", [("item", "user"), ("tag", "item"), ("user", "tag")])
@pytest.mark.parametrize("encoder", LOCAL)
def test_explain_typed_ends_that_the_model_does_not_look_up_are_refused(
    ends: tuple[str, str], encoder: str
) -> None:
    link = ((ends[0], 0), (ends[1], 2))
    with pytest.raises(InputError, match="link from user to item, where the model looks"):
        explain(make(LinkNet, encoder), shop(), link=link)


def test_explain_typed_end_behind_those_that_the_model_looks_up_is_refused() -> None:
    with pytest.raises(InputError, match="link from user to item, where the model looks"):
        explain(make(LinkNet, "HGT"), shop(), link=(("item", 5), ("user", 2)))


def equally_many() -> HeteroData:
    """As many users as items."""
    data = shop()
    data["user"].x = torch.cat([data["user"].x, data["user"].x[:1]])
    return data


@pytest.mark.parametrize("data", [shop(), equally_many()])
@pytest.mark.parametrize("encoder", ENCODERS)
def test_explain_typed_ends_of_other_types_are_refused_after_right_ones(
    encoder: str, data: HeteroData
) -> None:
    """What is remembered of a model from a right link says nothing about a wrong one."""
    model = make(LinkNet, encoder, data)
    explain(model, data, link=LINK)
    wrong = (("item", 0), ("user", 2))
    with pytest.raises(InputError, match="link from user to item, where the model looks"):
        explain(model, data, link=wrong)
    with pytest.raises(InputError, match="link from user to item, where the model looks"):
        list(explain_dataset(model, data, link=[LINK, wrong]))
    with pytest.raises(InputError, match="link from user to item, where the model looks"):
        explain(model, data, link=wrong, nodes="keep")


@pytest.mark.parametrize("encoder", ENCODERS)
def test_explain_typed_node_of_a_type_that_is_not_predicted_is_refused(encoder: str) -> None:
    data = equally_many()
    model = make(NodeNet, encoder, data)
    explain(model, data, node=("user", 2))
    with pytest.raises(InputError, match=r"type user, which the model predicts .* type item"):
        explain(model, data, node=("item", 2), nodes="keep")


class _Tables(torch.nn.Module):
    """Knows users and items by number, from tables as long as the graph has of them."""

    def __init__(self, users: int, items: int) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.user = torch.nn.Parameter(torch.randn(users, 4).double())
        self.item = torch.nn.Parameter(torch.randn(items, 4).double())

    def forward(self, edge_index_dict: Any, edge_label_index: Tensor) -> Tensor:
        source, target = edge_index_dict["user", "buys", "item"]
        item = self.item.index_add(0, target, self.user[source])
        return (self.user[edge_label_index[0]] * item[edge_label_index[1]]).sum(-1)


def test_explain_typed_model_of_tables_is_not_taken_for_one_of_another_type() -> None:
    """Tables of 2 and 3 rows are no sign of types that have so many nodes in a trial graph."""
    data = HeteroData()
    for kind, count in (("item", 3), ("user", 2), ("tag", 4)):
        data[kind].num_nodes = count
    data["user", "buys", "item"].edge_index = torch.tensor([[0, 1, 1], [0, 1, 2]])
    model = _Tables(2, 3)
    ex = explain(model, data, link=(("user", 1), ("item", 2)))
    logit = model(data.edge_index_dict, torch.tensor([[1], [2]]))
    assert ex.value == pytest.approx(torch.sigmoid(logit.abs()).item(), abs=1e-9)
    with pytest.raises(InputError, match="link from user to item"):
        explain(model, data, link=(("item", 0), ("user", 1)))


def test_explain_typed_ends_of_types_of_one_size_are_told_apart_in_parts_of_the_graph() -> None:
    data = shop()
    data["user"].x = torch.cat([data["user"].x, data["user"].x[:1]])  # as many users as items
    with pytest.raises(InputError, match="link from user to item, where the model looks"):
        explain(make(LinkNet, "HGT", data), data, link=(("item", 0), ("user", 2)))


def test_explain_typed_graph_without_edge_types_is_refused() -> None:
    data = HeteroData()
    data["user"].x = torch.ones(3, 2)
    with pytest.raises(InputError, match=r"at least one edge type .* of shape \[2, 0\]"):
        explain(make(NodeNet, "HGT"), data, node=("user", 0))


def test_explain_typed_graph_without_a_type_of_the_model_is_refused() -> None:
    data = shop()
    del data["item"]
    for kind in list(data.edge_types):
        if "item" in kind:
            del data[kind]
    with pytest.raises(ModelError, match="types that the model was made for"):
        explain(make(LinkNet, "HeteroConv SAGE"), data, link=(("user", 0), ("tag", 0)))


@pytest.mark.parametrize("encoder", ENCODERS)
def test_explain_typed_graph_without_features_of_a_type_names_it(encoder: str) -> None:
    data = shop()
    del data["tag"].x
    data["tag"].num_nodes = 3
    with pytest.raises(ModelError, match=r"no `x` of tag; .* Set data\['tag'\]\.x"):
        explain(make(LinkNet, encoder), data, link=LINK)
