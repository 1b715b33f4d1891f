"""Nodes and classes may be named in every way that users of PyG and NumPy name them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.data import Data, HeteroData

import eigsearch
from eigsearch.errors import InputError
from eigsearch.inputs.arguments import parse_link, parse_links, parse_nodes
from eigsearch.parallel import explain_to
from eigsearch.store import read
from tests.nets import house, make_net

MASK = torch.zeros(9, dtype=torch.bool).index_fill(0, torch.tensor([3, 7]), True)


def plain() -> Data:
    data = house()
    return Data(x=data.x, edge_index=data.edge_index)


def nodes(node: Any) -> list[int | None]:
    found = eigsearch.explain_dataset(make_net(pool=None), plain(), node=node)
    return [ex.node for ex in found]


NODES = {
    "mask": (MASK, [3, 7]),
    "mask of NumPy": (MASK.numpy(), [3, 7]),
    "mask as a list": (MASK.tolist(), [3, 7]),
    "mask that is empty": (torch.zeros(9, dtype=torch.bool), []),
    "numbers in a column": (MASK.nonzero(), [3, 7]),
    "numbers of NumPy": (np.array([3, 7]), [3, 7]),
    "list of tensors": (list(torch.tensor([3, 7])), [3, 7]),
    "range": (range(2), [0, 1]),
    "nothing": ([], []),
    "one": (5, [5]),
    "one of torch": (torch.tensor(5), [5]),
    "one of NumPy": (np.int64(5), [5]),
}


@pytest.mark.parametrize("name", NODES)
def test_nodes_of_a_data_set(name: str) -> None:
    given, expected = NODES[name]
    assert nodes(given) == expected


@pytest.mark.parametrize(
    ("node", "words"),
    [
        (MASK[:5], "9 entries, one for each node (got 5)"),
        (MASK[:, None], "(got False)"),
        (torch.stack([MASK, MASK], dim=1), "(got 2 values)"),
        ([2.7], "(got 2.7)"),
        ([1, None], "(got None)"),
        ("12", "(got '1')"),
    ],
)
def test_parse_nodes_values_that_are_no_nodes_raise(node: Any, words: str) -> None:
    with pytest.raises(InputError) as caught:
        nodes(node)
    assert words in str(caught.value)


def test_parse_nodes_mask_for_a_directory_and_for_workers_is_read(tmp_path: Path) -> None:
    model = make_net(pool=None)
    explain_to(tmp_path / "run", model, plain(), node=MASK)
    assert [ex.node for ex in read(tmp_path / "run")] == [3, 7]
    with pytest.raises(InputError, match="9 entries"):
        explain_to(tmp_path / "other", model, plain(), node=MASK[:5])
    found = eigsearch.explain_dataset(model, plain(), node=MASK.numpy(), workers=1)
    assert [ex.node for ex in found] == [3, 7]


@pytest.mark.parametrize("node", [5, np.int64(5), torch.tensor(5), torch.tensor([5])])
def test_parse_node_any_whole_number_is_a_node(node: Any) -> None:
    assert eigsearch.explain(make_net(pool=None), plain(), node=node).node == 5


@pytest.mark.parametrize("node", [2.7, True, "2", torch.tensor([2, 3]), torch.tensor(2.7), MASK])
def test_parse_node_value_that_is_no_node_raises(node: Any) -> None:
    with pytest.raises(InputError, match=r"whole number .* Call explain_dataset"):
        eigsearch.explain(make_net(pool=None), plain(), node=node)


@pytest.mark.parametrize(
    "target", [1, np.int64(1), torch.tensor(1), torch.tensor([1]), torch.tensor([1.0]), True]
)
def test_parse_target_any_whole_number_is_a_class(target: Any) -> None:
    assert eigsearch.explain(make_net(), plain(), target=target).target == 1


@pytest.mark.parametrize("target", [0.5, "1", torch.tensor([0, 1]), [None, None], float("nan")])
def test_parse_target_value_that_is_no_class_raises(target: Any) -> None:
    with pytest.raises(InputError, match="`target` to be the number of a class"):
        eigsearch.explain(make_net(), plain(), target=target)


CLASSES = {
    "one": (1, [1, 1, 1]),
    "one of torch": (torch.tensor(1), [1, 1, 1]),
    "one of NumPy": (np.int64(1), [1, 1, 1]),
    "each": ([1, 0, 2], [1, 0, 2]),
    "each of torch": (torch.tensor([1, 0, 2]), [1, 0, 2]),
    "each of NumPy": (np.array([1, 0, 2]), [1, 0, 2]),
    "each in a column": (torch.tensor([[1.0], [0.0], [2.0]]), [1, 0, 2]),
}


@pytest.mark.parametrize("name", CLASSES)
def test_classes_of_a_data_set(tmp_path: Path, name: str) -> None:
    given, expected = CLASSES[name]
    graphs = [plain()] * 3
    found = eigsearch.explain_dataset(make_net(), graphs, target=given)
    assert [ex.target for ex in found] == expected
    explain_to(tmp_path / "run", make_net(), graphs, target=given)
    assert [ex.target for ex in read(tmp_path / "run")] == expected


def test_classes_that_are_none() -> None:
    with pytest.raises(InputError, match=r"got 0\.5"):
        eigsearch.explain_dataset(make_net(), [plain()], target=[0.5])


@pytest.mark.parametrize("link", [(3, 7), [(3, 7)], (("user", 3), ("movie", 7))])
def test_parse_link_one_link_alone_is_a_link(link: Any) -> None:
    (found,) = parse_links(link)
    assert found in ((3, 7), (("user", 3), ("movie", 7)))


@pytest.mark.parametrize("link", [(3, "a"), (0.5, 1), (True, "b"), (("user", 3), 7)])
def test_parse_link_value_that_is_no_link_raises(link: Any) -> None:
    with pytest.raises(InputError, match="Expected `link` to be two nodes"):
        parse_link(link)


def test_parse_nodes_mask_of_a_typed_graph_needs_its_type() -> None:
    data = HeteroData()
    data["user"].num_nodes = 2
    with pytest.raises(InputError, match=r"Pass \(type, mask\), with one of user"):
        parse_nodes(torch.tensor([True, False]), data)


def test_reverse_that_is_no_dict_is_refused() -> None:
    with pytest.raises(InputError, match="Expected `reverse` to be a dict"):
        eigsearch.Options(reverse="buys")
