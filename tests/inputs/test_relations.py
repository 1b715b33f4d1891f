from __future__ import annotations

import pytest
import torch
from torch_geometric.data import HeteroData

from eigsearch.errors import InputError
from eigsearch.inputs.relations import reverse_types

PAIRS = torch.tensor([[0, 0, 1], [0, 1, 1]])


def typed(**relations: tuple[str, str, torch.Tensor]) -> HeteroData:
    data = HeteroData()
    data["user"].x = data["item"].x = torch.zeros(2, 1)
    for name, (source, target, pairs) in relations.items():
        data[source, name, target].edge_index = pairs
    return data


def test_reverse_types_prefix_of_pyg_is_the_reverse_whatever_the_edges() -> None:
    data = typed(buys=("user", "item", PAIRS), rev_buys=("item", "user", PAIRS[:, :1]))
    assert reverse_types(data) == (1, 0)


def test_reverse_types_swapped_pairs_in_any_order_are_reverses() -> None:
    swapped = PAIRS.flip(0)[:, [2, 0, 1]]
    assert reverse_types(typed(a=("user", "item", PAIRS), b=("item", "user", swapped))) == (1, 0)


@pytest.mark.parametrize("pairs", [PAIRS.flip(0)[:, :2], torch.tensor([[0, 0, 0], [0, 1, 1]])])
def test_reverse_types_other_pairs_are_no_reverses(pairs: torch.Tensor) -> None:
    assert reverse_types(typed(a=("user", "item", PAIRS), b=("item", "user", pairs))) == (-1, -1)


def test_reverse_types_between_nodes_of_one_type_is_the_type_itself() -> None:
    assert reverse_types(typed(knows=("user", "user", PAIRS))) == (0,)


def test_reverse_types_named_by_the_user_come_first() -> None:
    data = typed(
        buys=("user", "item", PAIRS),
        rev_buys=("item", "user", PAIRS.flip(0)),
        back=("item", "user", PAIRS.flip(0)),
    )
    assert reverse_types(data) == (1, 0, -1)
    assert reverse_types(data, {"buys": "back"}) == (2, -1, 0)
    assert reverse_types(data, {("user", "buys", "item"): ("item", "back", "user")}) == (2, -1, 0)
    assert reverse_types(data, {"buys": None})[0] == -1


@pytest.mark.parametrize(
    ("named", "words"), [({"sells": "buys"}, "'sells'"), ({"buys": "buys"}, "lead from item")]
)
def test_reverse_types_named_wrongly_raises(named: dict[str, str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        reverse_types(typed(buys=("user", "item", PAIRS)), named)
