"""Links and typed graphs through JSON, results directories and worker processes."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

from eigsearch import SubgraphExplanation, explain, explain_dataset, parallel, store
from eigsearch.errors import InputError
from tests.properties.test_links import LinkNet as PlainNet
from tests.properties.test_links import graph
from tests.typed_nets import GraphNet, LinkNet, NodeNet, make, shop

LINK = (("user", 0), ("item", 2))
PAIRS = torch.tensor([[0, 3, 1], [2, 4, 1]])


def plain(ex: Any) -> dict[str, Any]:
    """What has to survive: everything but how the engines were chosen."""
    values = ex.to_dict()
    return {name: value for name, value in values.items() if name != "config"}


@cache
def cases() -> dict[str, Any]:
    typed = shop()
    return {
        "link": explain(PlainNet().eval(), graph(), link=(0, 5)),
        "typed link": explain(make(LinkNet, "HGT"), typed, link=LINK),
        "typed node": explain(make(NodeNet, "HGT"), typed, node=("user", 1)),
        "typed graph": explain(make(GraphNet, "HeteroConv SAGE"), typed),
    }


@pytest.mark.parametrize("case", ["link", "typed link", "typed node", "typed graph"])
def test_json_links_and_types_come_back_as_they_were(case: str, tmp_path: Path) -> None:
    ex = cases()[case]
    path = ex.save(tmp_path / "ex.json")
    for again in (SubgraphExplanation.load(path), SubgraphExplanation.load(path, ex.data)):
        assert plain(again) == plain(ex)
        assert (again.node, again.link) == (ex.node, ex.link)
        assert str(again.edge_mask) == str(ex.edge_mask)
        assert again.sentence() == ex.sentence()


def test_json_of_another_typed_graph_is_refused(tmp_path: Path) -> None:
    path = cases()["typed link"].save(tmp_path / "ex.json")
    other = shop()
    other["user", "buys", "item"].edge_index = other["user", "buys", "item"].edge_index.flip(1)
    with pytest.raises(InputError, match="the graph that was explained"):
        SubgraphExplanation.load(path, other)
    with pytest.raises(InputError, match="the graph that was explained"):
        SubgraphExplanation.load(path, graph())


@pytest.mark.parametrize("value", [[["user", 9], ["item", 2]], [["user", 0]], 3, [0, 2]])
def test_json_with_a_link_that_is_none_is_refused(value: Any, tmp_path: Path) -> None:
    values = {**cases()["typed link"].to_dict(), "link": value}
    with pytest.raises(InputError, match="`link`"):
        SubgraphExplanation.from_dict(values)


def test_store_typed_links_come_back_with_and_without_the_graph(tmp_path: Path) -> None:
    model, data = make(LinkNet, "HGT"), shop()
    links = (("user", "item"), PAIRS)
    parallel.explain_to(tmp_path / "out", model, data, link=links)
    expected = list(explain_dataset(model, data, link=links))
    for ex, again, alone in zip(
        expected, store.read(tmp_path / "out", data), store.read(tmp_path / "out"), strict=True
    ):
        assert again.link == alone.link == ex.link
        assert plain(again) == plain(ex)
        assert alone.sizes_by_type == ex.sizes_by_type
        assert alone.sentence() == ex.sentence()


def test_workers_links_are_those_of_one_process_and_failed_ones_are_named() -> None:
    model, data = make(LinkNet, "HeteroConv SAGE"), shop()
    links = (("user", "item"), torch.cat([PAIRS, torch.tensor([[0], [99]])], dim=1))
    alone = explain_dataset(model, data, link=links, on_error="skip")
    several = explain_dataset(model, data, link=links, on_error="skip", workers=2)
    for ex, other in zip(alone, several, strict=True):
        assert other.link == ex.link
        if isinstance(ex, SubgraphExplanation):
            assert plain(other) == plain(ex)
        else:
            assert other.reason == ex.reason
            assert "from 0 to 5" in ex.reason
            assert "link user 0–item 99" in str(ex.to_error())
