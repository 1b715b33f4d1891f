"""Which graphs, nodes and links the flags of a command select."""

from __future__ import annotations

import pytest
import torch
from torch_geometric.data import Data, HeteroData

from eigsearch.cli.selection import Asked, read_links, select
from eigsearch.datasets import GraphDataset
from eigsearch.datasets.dataset import Task
from eigsearch.errors import InputError
from eigsearch.inputs.name_texts import parse_link_text

TYPED = HeteroData()
TYPED["user"].x, TYPED["item"].x = torch.ones(3, 1), torch.ones(5, 1)
TYPED["user", "buys", "item"].edge_index = torch.tensor([[0, 1], [1, 2]])
TYPED.edge_label_index = torch.tensor([[0, 1, 2], [4, 3, 2]])


def dataset(task: Task, graph: object = None, target: object = None) -> GraphDataset:
    data = graph or Data(x=torch.ones(6, 1), edge_index=torch.tensor([[0, 1], [1, 2]]))
    return GraphDataset("Mine", task, (data,), 2, (), "", "", "", target_type=target)


def test_select_of_a_link_names_its_two_ends() -> None:
    assert select(dataset("link"), Asked(link="3,5")).link == [(3, 5)]


def test_select_of_typed_links_adds_the_types_that_the_data_set_names() -> None:
    typed = dataset("link", TYPED, ("user", "item"))
    pair = (("user", 1), ("item", 4))
    assert select(typed, Asked(link="1,4")).link == [pair]
    assert select(typed, Asked(link="user:1,item:4")).link == [pair]


def test_select_of_a_link_set_without_flags_takes_its_list() -> None:
    typed = dataset("link", TYPED, ("user", "item"))
    everything = [
        (("user", 0), ("item", 4)),
        (("user", 1), ("item", 3)),
        (("user", 2), ("item", 2)),
    ]
    assert select(typed, Asked()).link == everything
    assert select(typed, Asked(index="1:")).link == everything[1:]
    assert select(typed, Asked(), default="0:2").link == everything[:2]


def test_select_of_typed_nodes_takes_numbers_or_types() -> None:
    typed = dataset("node", TYPED, "item")
    assert select(typed, Asked(node="1,3")).node == [("item", 1), ("item", 3)]
    assert select(typed, Asked(node="user:2")).node == [("user", 2)]


@pytest.mark.parametrize(
    ("task", "asked", "got"),
    [
        ("node", Asked(), "none"),
        ("node", Asked(index="0"), "--index"),
        ("graph", Asked(node="0"), "--node"),
        ("graph", Asked(link="0,1"), "--link"),
        ("link", Asked(link="0,1", index="0"), "--index and --link"),
    ],
)
def test_select_of_flags_that_do_not_fit_says_which(task: Task, asked: Asked, got: str) -> None:
    with pytest.raises(InputError, match=rf"\(got {got}\)"):
        select(dataset(task), asked)


def test_select_of_a_graph_without_listed_links_asks_for_one() -> None:
    with pytest.raises(InputError, match="--link or --links"):
        select(dataset("link"), Asked())


def test_select_of_an_untyped_node_of_a_typed_graph_asks_for_its_type() -> None:
    with pytest.raises(InputError, match="name the type"):
        select(dataset("node", TYPED), Asked(node="1"))


def test_read_links_passes_over_comments_and_empty_lines(tmp_path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("# source,target\n\n3,7\nuser:1\tmovie:2\n")
    assert read_links(path) == [(3, 7), (("user", 1), ("movie", 2))]


def test_read_links_of_a_wrong_line_names_it(tmp_path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("3,7\nsource,target\n")
    with pytest.raises(InputError, match=r"line 2 of pairs\.csv"):
        read_links(path)
    path.write_text("# nothing\n")
    with pytest.raises(InputError, match="to list links"):
        read_links(path)


@pytest.mark.parametrize("text", ["3", "3,7,9", "a,b", "user:3,7", "-1,2"])
def test_parse_link_text_of_what_is_no_link_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="Expected --link"):
        parse_link_text(text)
