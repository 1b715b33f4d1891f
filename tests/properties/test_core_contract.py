"""What the core promises for every graph, as properties over random ones."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.utils import contains_isolated_nodes

import eigsearch
from eigsearch import metrics
from eigsearch.pipeline import WINDOW
from tests.nets import FEATURES, Net, make_net, predict
from tests.reference import oracle, twin

CONVS = st.sampled_from(["GCN", "GIN", "SAGE", "GAT"])
POOLS = st.sampled_from(["sum", "mean", "max"])
MODELS = st.builds(make_net, CONVS, POOLS, seed=st.integers(0, 3))
NODE_MODELS = st.builds(make_net, CONVS, st.none(), seed=st.integers(0, 3))
SPARSITY = st.sampled_from([0.0, 0.3, 0.5, 0.7])


@st.composite
def graphs(draw: Any, max_nodes: int = 7, max_edges: int = 10, min_edges: int = 0) -> Data:
    """Draw an undirected graph; with few kinds of nodes, so that edges tie, or with many."""
    num_nodes = draw(st.integers(3, max_nodes))
    node = st.integers(0, num_nodes - 1)
    pair = st.tuples(node, node).filter(lambda ends: ends[0] < ends[1])
    edges = draw(st.lists(pair, min_size=min_edges, max_size=max_edges, unique=True))
    kinds = draw(st.sampled_from([1, 2, num_nodes]))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 99)))
    kind = torch.randn(kinds, FEATURES, generator=generator, dtype=torch.float64)
    one_way = torch.tensor(edges, dtype=torch.long).reshape(-1, 2).t()
    both = torch.stack([one_way, one_way.flip(0)], dim=2).reshape(2, -1)
    return Data(x=kind[torch.arange(num_nodes) % kinds], edge_index=both)


def splits_a_tie(ex: eigsearch.SubgraphExplanation) -> bool:
    """Tell whether the size limit left no cut between two different scores."""
    inside, outside = ex.score[ex.keep], ex.score[~ex.keep]
    return bool(inside.numel() and outside.numel() and inside.min() - outside.max() < 1e-4)


def assert_equal(one: eigsearch.SubgraphExplanation, other: eigsearch.SubgraphExplanation) -> None:
    torch.testing.assert_close(one.edge_score, other.edge_score, atol=1e-9, rtol=1e-9)
    assert torch.equal(one.edge_mask, other.edge_mask)
    assert one.size == other.size
    assert one.gain == pytest.approx(other.gain, abs=1e-9, nan_ok=True)


@given(MODELS, graphs(), SPARSITY)
def test_the_engine_finds_what_the_twin_finds(model: Net, data: Data, sparsity: float) -> None:
    ex = eigsearch.explain(model, data, sparsity=sparsity)
    answer = twin.explain(predict(model), data, twin.Asked(ex.target), sparsity=sparsity)
    torch.testing.assert_close(
        ex.edge_score, torch.tensor(answer.score).double(), atol=1e-5, rtol=1e-5
    )
    assert ex.edge_mask.tolist() == answer.mask


@given(NODE_MODELS, graphs(min_edges=1), st.data())
def test_a_node_is_explained_as_on_the_whole_graph(model: Net, data: Data, draw: Any) -> None:
    node = draw.draw(st.integers(0, data.num_nodes - 1))
    ex = eigsearch.explain(model, data, node=node)
    hops = 3 if "GCN" in type(model.convs[0]).__name__ else 2
    answer = twin.explain(predict(model), data, twin.Asked(ex.target, node=node), hops=hops)
    torch.testing.assert_close(
        ex.edge_score, torch.tensor(answer.score).double(), atol=1e-5, rtol=1e-5
    )
    assert ex.edge_mask.tolist() == answer.mask


def relabelled(data: Data, nodes: Tensor, edges: Tensor) -> Data:
    """Return the graph with node i called nodes[i], and its edges in another order."""
    return Data(x=data.x[nodes.argsort()], edge_index=nodes[data.edge_index][:, edges])


def shuffle(size: int, seed: int) -> Tensor:
    return torch.randperm(size, generator=torch.Generator().manual_seed(seed))


@given(MODELS, graphs(), SPARSITY, st.integers(0, 99))
def test_names_and_order_do_not_matter(model: Net, data: Data, sparsity: float, seed: int) -> None:
    nodes, edges = shuffle(data.num_nodes, seed), shuffle(data.num_edges, seed + 1)
    one = eigsearch.explain(model, data, sparsity=sparsity)
    other = eigsearch.explain(model, relabelled(data, nodes, edges), sparsity=sparsity)
    torch.testing.assert_close(one.edge_score[edges], other.edge_score, atol=1e-9, rtol=1e-9)
    assume(not splits_a_tie(one))
    assert torch.equal(one.edge_mask[edges], other.edge_mask)
    assert one.gain == pytest.approx(other.gain, abs=1e-9, nan_ok=True)


@given(NODE_MODELS, graphs(), st.integers(0, 99))
def test_names_and_order_do_not_matter_for_nodes(model: Net, data: Data, seed: int) -> None:
    nodes, edges = shuffle(data.num_nodes, seed), shuffle(data.num_edges, seed + 1)
    one = eigsearch.explain(model, data, node=1)
    other = eigsearch.explain(model, relabelled(data, nodes, edges), node=int(nodes[1]))
    torch.testing.assert_close(one.edge_score[edges], other.edge_score, atol=1e-9, rtol=1e-9)
    assume(not splits_a_tie(one))
    assert torch.equal(one.edge_mask[edges], other.edge_mask)


@given(MODELS, graphs(), st.integers(1, 60))
def test_the_batch_budget_does_not_matter(model: Net, data: Data, budget: int) -> None:
    one = eigsearch.explain(model, data)
    assert_equal(one, eigsearch.explain(model, data, max_batch_nodes=budget))


@given(MODELS, graphs())
def test_engines_and_runs_agree(model: Net, data: Data) -> None:
    one = eigsearch.explain(model, data)
    again = eigsearch.explain(model, data)
    assert torch.equal(one.edge_score, again.edge_score)
    assert torch.equal(one.edge_mask, again.edge_mask)
    assert_equal(one, eigsearch.explain(model, data, engine="batched"))


@given(MODELS, st.lists(graphs(), min_size=1, max_size=4))
def test_company_in_a_data_set_does_not_matter(model: Net, dataset: list[Data]) -> None:
    together = list(eigsearch.explain_dataset(model, iter(dataset)))
    assert len(together) == len(dataset)
    for data, ex in zip(dataset, together, strict=True):
        assert ex.data is data
        assert_equal(ex, eigsearch.explain(model, data))


@given(NODE_MODELS, graphs())
def test_company_of_other_nodes_does_not_matter(model: Net, data: Data) -> None:
    everybody = torch.arange(data.num_nodes)
    for node, ex in enumerate(eigsearch.explain_dataset(model, data, node=everybody)):
        assert ex.node == node
        assert_equal(ex, eigsearch.explain(model, data, node=node))


def test_windows_of_a_long_data_set_keep_the_order() -> None:
    model = make_net()
    dataset = [
        Data(
            x=torch.full((3, FEATURES), i / 10).double(), edge_index=torch.tensor([[0, 1], [1, 0]])
        )
        for i in range(WINDOW + 3)
    ]
    answers = list(eigsearch.explain_dataset(model, dataset))
    assert [ex.data.x[0, 0] for ex in answers] == [data.x[0, 0] for data in dataset]


@given(MODELS, graphs())
def test_both_directions_share_score_and_mask(model: Net, data: Data) -> None:
    ex = eigsearch.explain(model, data)
    assert torch.equal(ex.edge_score[0::2], ex.edge_score[1::2])
    assert torch.equal(ex.edge_mask[0::2], ex.edge_mask[1::2])


@given(NODE_MODELS, graphs())
def test_both_directions_share_score_and_mask_for_nodes(model: Net, data: Data) -> None:
    ex = eigsearch.explain(model, data, node=0)
    assert torch.equal(ex.edge_score[0::2], ex.edge_score[1::2])
    assert torch.equal(ex.edge_mask[0::2], ex.edge_mask[1::2])


@given(MODELS, graphs(min_edges=1), SPARSITY)
def test_an_explanation_is_a_subgraph_without_isolated_nodes(
    model: Net, data: Data, sparsity: float
) -> None:
    ex = eigsearch.explain(model, data, sparsity=sparsity)
    subgraph = ex.subgraph()
    assert not contains_isolated_nodes(subgraph.edge_index, subgraph.num_nodes)
    assert subgraph.num_edges == 2 * ex.size
    ends = set(data.edge_index[:, ex.edge_mask].flatten().tolist())
    assert set(ex.node_mask.nonzero().flatten().tolist()) == ends
    assert 1 <= ex.size <= ex.num_groups


@given(MODELS, graphs(min_edges=3), SPARSITY)
def test_sizes_respect_the_limit_and_the_best_one_is_chosen(
    model: Net, data: Data, sparsity: float
) -> None:
    ex = eigsearch.explain(model, data, sparsity=sparsity)
    count = ex.num_groups
    assert 2 <= ex.size <= count - 1
    assert ex.size <= max(2, count * (1 - sparsity) + 1)
    assert ex.gain >= float(ex.curve.gain.max()) - 1e-6
    assert ex.gain == pytest.approx(ex.fidelity_plus - ex.fidelity_minus)
    smaller = ex.curve.gain[ex.curve.size < ex.size]
    assert bool((smaller < ex.gain + 1e-6).all())


@settings(max_examples=8)
@given(MODELS, graphs(max_nodes=5, max_edges=6, min_edges=3))
def test_no_subgraph_of_all_beats_the_oracle(model: Net, data: Data) -> None:
    ex = eigsearch.explain(model, data, sparsity=0.0)
    asked = twin.Asked(ex.target)
    best, _ = oracle.best_gain(predict(model), data, asked, 2, ex.num_groups - 1)
    assert ex.gain <= best + 1e-9


# The theorems of the paper ----------------------------------------------------------------------


@given(graphs(min_edges=1), st.integers(0, 999))
def test_theorem_3_1_edges_induce_the_most_intuitive_explanations(data: Data, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    edges, more = (torch.rand(2, data.num_edges // 2, generator=generator) < 0.4).repeat_interleave(
        2, dim=1
    )
    nodes = torch.rand(data.num_nodes, generator=generator) < 0.5
    assume(edges.any() and nodes.any())
    by_edges = metrics.intuitiveness(metrics.edge_induced(data, edges))
    assert by_edges == 1
    assert by_edges >= metrics.intuitiveness(metrics.node_induced(data, nodes))
    assert by_edges >= metrics.intuitiveness(metrics.node_and_edge_induced(data, nodes, more))


@given(graphs(min_edges=1))
def test_theorem_3_2_edges_induce_the_most_subgraphs(data: Data) -> None:
    by_edges, by_nodes, by_both = (
        metrics.exhaustiveness(data, technique)
        for technique in ("edges", "nodes", "nodes_and_edges")
    )
    assert by_edges == by_both == 1
    assert by_edges >= by_nodes
    assert (by_nodes < 1) == has_cycle(data)


def has_cycle(data: Data) -> bool:
    """Tell whether the graph has a cycle: more edges than a forest has."""
    parent = list(range(data.num_nodes))

    def root(node: int) -> int:
        while parent[node] != node:
            node = parent[node]
        return node

    for u, v in data.edge_index[:, ::2].t().tolist():
        if root(u) == root(v):
            return True
        parent[root(u)] = root(v)
    return False
