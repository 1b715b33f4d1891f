"""The result object: what it says about itself, other sizes, and files."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data

import eigsearch
from eigsearch.errors import InputError
from tests.nets import house, make_net
from tests.search.brute import Net, random_graph


def explained(node: int | None = None) -> eigsearch.SubgraphExplanation:
    model = make_net(pool="mean" if node is None else None)
    return eigsearch.explain(model, house(), node=node, sparsity=0.3)


class Elsewhere:
    """Ranks the edges of the explained node last."""

    name, level = "elsewhere", "edge"

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        return (data.edge_index != node).all(dim=0).double()


@pytest.mark.parametrize("node", range(8))
def test_subgraph_of_a_node_is_what_the_model_saw_and_holds_the_node(node: int) -> None:
    model = make_net(pool=None).requires_grad_(False)
    ex = eigsearch.explain(model, house(), node=node, ranker=Elsewhere(), search=None, size=1)
    part, place = ex.subgraph(), int(ex.node_mask[:node].sum())
    assert bool(ex.node_mask[node])
    alone = model(part.x, part.edge_index)[place].softmax(-1)[ex.target]
    assert float(ex.found.kept) == pytest.approx(float(alone))


def test_subgraph_with_edges_that_are_never_removed_holds_them() -> None:
    model, data = make_net().requires_grad_(False), house()
    partition = torch.tensor([-1, 0, 1, 2, 3, 4, 5, 6, -1] * 2)
    ex = eigsearch.explain(model, data, groups=partition, sparsity=0.7)
    part = ex.subgraph()
    alone = model(part.x, part.edge_index).softmax(-1)[0, ex.target]
    assert float(ex.found.kept) == pytest.approx(float(alone))
    assert part.num_edges == int(ex.edge_mask.sum()) + 4


@pytest.mark.parametrize("node", [None, 2])
def test_at_other_size_cuts_the_same_ranking(node: int | None) -> None:
    ex = explained(node)
    assert ex.at(0).size == 0
    for size in range(1, ex.num_groups + 1):
        cut = ex.at(size)
        assert cut.size == size
        inside, outside = cut.score[cut.keep], cut.score[~cut.keep]
        assert outside.numel() == 0 or inside.min() >= outside.max() - 1e-4
        evaluated = ex.curve.size == size
        if evaluated.any():
            assert cut.gain == pytest.approx(float(ex.curve.gain[evaluated]))
        else:
            assert cut.gain != cut.gain
    assert torch.equal(ex.at(ex.size).edge_mask, ex.edge_mask)


def test_at_size_that_the_graph_does_not_have_raises() -> None:
    ex = explained()
    with pytest.raises(InputError, match="0 to 9"):
        ex.at(size=10)


def test_repr_says_target_size_and_node() -> None:
    ex = explained()
    assert repr(ex).startswith(f"SubgraphExplanation(target={ex.target}, size={ex.size} of 9")
    assert f"{ex.value:.2f}" in ex.sentence()
    assert "node=2" in repr(explained(node=2))
    assert ex.config["task"] == "multiclass_classification"
    assert ex.config["sparsity"] == 0.3
    assert set(ex.config["versions"]) == {"eigsearch", "torch", "torch_geometric"}


@pytest.mark.parametrize("share", [0.3, 0.9, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_elbow_is_the_smallest_size_that_keeps_the_share(share: float, seed: int) -> None:
    found = eigsearch.explain(Net(3), random_graph(seed), sparsity=0.0)
    size = found.elbow(share)
    if found.gain > 0:
        assert found.at(size).gain >= share * found.gain - 1e-12
        smaller = found.curve.size < size
        assert bool((found.curve.gain[smaller] < share * found.gain).all())
    assert size <= found.size


@pytest.mark.parametrize("search", ["refine", "exhaustive", "resweep"])
def test_at_elbow_keeps_the_share_of_what_a_search_found_beside_the_ranking(search: str) -> None:
    found = eigsearch.explain(Net(3), random_graph(3), sparsity=0.3, search=search)
    assert found.gain > float(found.curve.gain[found.curve.size <= found.size].max())
    assert found.at(found.size) is found
    assert found.at(found.elbow(1.0)).gain == found.gain


@pytest.mark.parametrize("share", [0.0, -1.0, 1.1, float("nan"), "0.9", None])
def test_elbow_share_out_of_range_raises(share: Any) -> None:
    with pytest.raises(InputError, match="`share`"):
        eigsearch.explain(Net(3), random_graph(0)).elbow(share)


def test_config_continuous_labels_make_a_regression() -> None:
    data = house()
    labelled = Data(x=data.x, edge_index=data.edge_index, y=torch.tensor([0.37]))
    assert eigsearch.explain(make_net(outputs=1), labelled).config["task"] == "regression"
