"""Groups: which directed edges are removed together, and what they weigh."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from eigsearch.errors import InputError
from eigsearch.inputs.edge_groups import EdgeKinds, Groups, make_groups, make_groups_of_each


def graph(*edges: tuple[int, int], **attributes: list[float]) -> Data:
    index = torch.tensor(edges, dtype=torch.long).reshape(-1, 2).t()
    values = {name: torch.tensor(value) for name, value in attributes.items()}
    return Data(edge_index=index, num_nodes=6, **values)


def test_make_groups_both_directions_of_an_edge_are_one_group() -> None:
    data = graph((0, 1), (1, 2), (2, 1), (1, 0))
    groups = make_groups("auto", data)
    assert groups.index.tolist() == [0, 1, 1, 0]
    assert groups.weight.tolist() == [2, 2]
    assert groups.count == 2


def test_make_groups_auto_with_one_way_edges_pairs_what_it_can_and_says_so() -> None:
    data = graph((0, 1), (1, 0), (1, 2))
    groups = make_groups("auto", data)
    assert groups.index.tolist() == [0, 0, 1]
    assert groups.weight.tolist() == [2, 1]
    assert groups.note.startswith("1 of 3 edges have no reverse")
    assert make_groups("directed", data).index.tolist() == [0, 1, 2]


def test_make_groups_auto_with_a_duplicate_edge_pairs_the_first_copies() -> None:
    groups = make_groups("auto", graph((0, 1), (0, 1), (1, 0), (2, 3), (3, 2)))
    assert groups.index.tolist() == [0, 1, 0, 2, 2]
    assert groups.note.startswith("1 of 5 edges")


def test_make_groups_auto_of_one_way_edges_alone_has_nothing_to_say() -> None:
    groups = make_groups("auto", graph((0, 1), (1, 2)))
    assert groups.index.tolist() == [0, 1]
    assert groups.note == ""


def test_make_groups_self_loop_is_a_group_of_one() -> None:
    groups = make_groups("auto", graph((0, 1), (1, 0), (2, 2), (2, 2)))
    assert groups.index.tolist() == [0, 0, 1, 2]
    assert groups.weight.tolist() == [2, 1, 1]


@pytest.mark.parametrize("name", ["edge_attr", "edge_weight", "edge_type"])
def test_make_groups_parallel_edges_are_paired_by_what_they_carry(name: str) -> None:
    edges = [(0, 1), (0, 1), (1, 0), (1, 0)]
    values: dict[str, list[float]] = {name: [3, 1, 1, 3]}
    assert make_groups("auto", graph(*edges, **values)).index.tolist() == [0, 1, 1, 0]


def test_make_groups_parallel_edges_that_carry_nothing_are_paired_in_order() -> None:
    data = graph((0, 1), (0, 1), (1, 0), (1, 0))
    assert make_groups("auto", data).index.tolist() == [0, 1, 0, 1]


def test_weights_count_without_their_sign() -> None:
    data = graph((0, 1), (1, 0), (1, 2), (2, 1), edge_weight=[0.5, -1.5, 0.0, 0.0])
    assert make_groups("auto", data).weight.tolist() == [2, 0]


def test_make_groups_partition_is_renumbered_and_keeps_what_is_never_removed() -> None:
    data = graph((0, 1), (1, 2), (2, 3), (3, 4))
    groups = make_groups(torch.tensor([9, -1, 4, 9]), data)
    assert groups.index.tolist() == [0, -1, 1, 0]
    assert groups.weight.tolist() == [2, 1]


def test_edges_of_small_integers_do_not_overflow() -> None:
    pairs = [(61_356, 61_400), (0, 14_104)]  # equal as source * nodes + target, modulo 2^32
    edges = [(u, v) for pair in pairs for u, v in (pair, pair[::-1])]
    data = Data(edge_index=torch.tensor(edges, dtype=torch.int32).t(), num_nodes=70_000)
    assert make_groups("auto", data).index.tolist() == [0, 0, 1, 1]


def test_make_groups_graph_without_edges_has_no_groups() -> None:
    for spec in ("auto", "undirected", "directed", torch.zeros(0, dtype=torch.long)):
        assert make_groups(spec, graph()).count == 0


def test_make_groups_of_each_several_graphs_are_grouped_as_each_alone() -> None:
    """Node numbers and edge keys of one graph must not meet those of another."""
    graphs = [
        graph((0, 1), (1, 0), (1, 2)),
        graph(),
        graph((0, 1), (0, 1), (1, 0), (1, 0), edge_weight=[3.0, 1.0, 1.0, 3.0]),
        graph((5, 4), (4, 5), (0, 0)),
        graph((1, 0), (2, 1)),
    ]
    for spec in ("auto", "undirected", "directed"):
        for found, data in zip(make_groups_of_each(spec, graphs), graphs, strict=True):
            alone = make_groups(spec, data)
            assert found.index.tolist() == alone.index.tolist()
            assert found.weight.tolist() == alone.weight.tolist()
            assert found.note == alone.note


def test_make_groups_undirected_pairs_as_auto_does_and_says_nothing() -> None:
    data = graph((0, 1), (1, 0), (1, 2))
    groups = make_groups("undirected", data)
    assert groups.index.tolist() == make_groups("auto", data).index.tolist()
    assert groups.note == ""


def test_make_groups_self_loops_among_pairs_need_no_note() -> None:
    assert make_groups("auto", graph((0, 1), (1, 0), (2, 2))).note == ""


def test_make_groups_numbers_follow_the_first_appearance() -> None:
    groups = make_groups("auto", graph((4, 5), (0, 1), (5, 4), (2, 1), (1, 0), (1, 2)))
    assert groups.index.tolist() == [0, 1, 0, 2, 1, 2]


def test_make_groups_three_parallel_copies_are_paired_by_their_order() -> None:
    weight = [2.0, 9.0, 4.0, 4.0, 2.0, 9.0]
    edges = [(0, 1)] * 3 + [(1, 0)] * 3
    groups = make_groups("auto", graph(*edges, edge_weight=weight))
    assert groups.index.tolist() == [0, 1, 2, 2, 0, 1]
    assert groups.weight.tolist() == [4, 18, 8]


def test_make_groups_parallel_edges_of_several_columns_compare_all_of_them() -> None:
    data = graph((0, 1), (0, 1), (1, 0), (1, 0))
    data.edge_attr = torch.tensor([[1.0, 3.0], [1.0, 2.0], [1.0, 2.0], [1.0, 3.0]])
    assert make_groups("auto", data).index.tolist() == [0, 1, 1, 0]


def test_make_groups_attributes_of_another_length_are_ignored() -> None:
    data = graph((0, 1), (0, 1), (1, 0), (1, 0))
    data.edge_attr, data.edge_weight = torch.tensor([[2.0], [1.0]]), torch.tensor([5.0])
    groups = make_groups("auto", data)
    assert groups.index.tolist() == [0, 1, 0, 1]
    assert groups.weight.tolist() == [2, 2]


def test_make_groups_partition_weight_counts_only_what_can_be_removed() -> None:
    data = graph((0, 1), (1, 2), (2, 3), (3, 4), edge_weight=[1.0, 2.0, -4.0, 8.0])
    groups = make_groups(torch.tensor([0, -1, 0, 7]), data)
    assert groups.index.tolist() == [0, -1, 0, 1]
    assert groups.weight.tolist() == [5, 8]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (torch.tensor([0, 1]), "each of the 3 directed edges"),
        (torch.tensor([[0, 1, 2]]), r"got shape \[1, 3\]"),
        (torch.tensor([0.0, 1.0, 2.0]), "integers"),
        (torch.tensor([True, False, True]), "integers"),
        (torch.tensor([0j, 1j, 2j]), "integers"),
        (torch.tensor([0, -2, 1]), r"from -1 upwards \(got -2\)"),
        ("both", "auto, undirected, directed"),
    ],
)
def test_make_groups_partition_that_does_not_fit_raises(spec: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        make_groups(spec, graph((0, 1), (1, 2), (2, 3)))


def test_distance_group_without_weight_is_one() -> None:
    groups = Groups(torch.arange(3), torch.tensor([0.0, 0.25, 2.0]))
    assert groups.distance.tolist() == [1, 0.25, 2]


# Two relations: the first with its reverses under a type of their own, the second without.
KINDS = EdgeKinds(np.array([0, 1, 2, 0, 1]), np.array([1, 0, -1]))
TYPED = Data(edge_index=torch.tensor([[0, 2, 0, 1, 3], [2, 0, 1, 3, 1]]), num_nodes=4)


def test_relation_of_a_type_and_its_reverses_is_one() -> None:
    assert KINDS.relation.tolist() == [0, 0, 2, 0, 0]


def test_make_groups_of_types_pairs_with_the_reverse_type_alone() -> None:
    groups = make_groups("auto", TYPED, KINDS)
    assert groups.index.tolist() == [0, 0, 1, 2, 2]
    assert groups.weight.tolist() == [1.0, 1.0, 1.0]
    apart = make_groups("auto", TYPED, EdgeKinds(KINDS.kind, np.array([-1, -1, -1])))
    assert apart.index.tolist() == [0, 1, 2, 3, 4]


def test_make_groups_relation_of_types_is_one_group_each_of_weight_one() -> None:
    groups = make_groups("relation", TYPED, KINDS)
    assert groups.index.tolist() == [0, 0, 1, 0, 0]
    assert groups.weight.tolist() == [1.0, 1.0]


def test_make_groups_partition_of_types_weighs_an_edge_with_its_reverse_once() -> None:
    groups = make_groups(torch.tensor([0, 0, 0, 1, 0]), TYPED, KINDS)
    assert groups.weight.tolist() == [3.0, 1.0]


def test_make_groups_of_each_types_are_kept_apart_by_graph() -> None:
    alone = make_groups("auto", TYPED, KINDS)
    for groups in make_groups_of_each("auto", [TYPED, TYPED], [KINDS, KINDS]):
        assert groups.index.equal(alone.index)


def test_make_groups_relation_by_edge_type_is_one_group_each() -> None:
    data = Data(edge_index=TYPED.edge_index, edge_type=torch.tensor([7, 7, 3, 7, 3]), num_nodes=4)
    assert make_groups("relation", data).index.tolist() == [0, 0, 1, 0, 1]


@pytest.mark.parametrize("kind", [None, [0, 1, 0, 1, 0], torch.tensor([0, 1])])
def test_make_groups_relation_without_a_type_for_each_edge_raises(kind: Any) -> None:
    data = Data(edge_index=TYPED.edge_index, edge_type=kind, num_nodes=4)
    with pytest.raises(InputError, match="`edge_type` for each edge"):
        make_groups("relation", data)


def test_make_groups_targets_above_all_sources_are_kept_apart() -> None:
    data = Data(edge_index=torch.tensor([[0, 1], [3, 1]]), num_nodes=4)
    assert make_groups("auto", data).index.tolist() == [0, 1]


def test_make_groups_one_way_edges_with_a_far_target_are_three_groups() -> None:
    """Keys of edges take the highest target into account, so that no two of them are the same."""
    data = Data(edge_index=torch.tensor([[0, 2, 3], [6, 1, 0]]), num_nodes=7)
    assert make_groups("auto", data).index.tolist() == [0, 1, 2]


def test_make_groups_of_each_graph_of_fewer_types_is_grouped_as_alone() -> None:
    """The types of the second graph have numbers that no type of the first one has."""
    first = Data(edge_index=torch.tensor([[0, 1, 2], [1, 2, 0]]), num_nodes=3)
    second = Data(edge_index=torch.tensor([[2, 1], [0, 2]]), num_nodes=3)
    kinds = [
        EdgeKinds(np.array([0, 1, 2]), np.array([-1, -1, -1])),
        EdgeKinds(np.array([0, 0]), np.array([-1])),
    ]
    found = make_groups_of_each("auto", [first, second], kinds)
    assert [groups.index.tolist() for groups in found] == [[0, 1, 2], [0, 1]]
