"""Rankings by node scores: the search on top of them speaks in groups."""

import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.nn import GINConv, global_add_pool
from torch_geometric.utils import to_undirected

import eigsearch
from eigsearch.candidates import SubgraphKind
from eigsearch.errors import InputError
from eigsearch.ranking.node_ranking import rank_nodes
from tests.instances import prepare_graph


class FromList:
    """A ranker that gives the scores it was made with."""

    def __init__(self, scores: list[float], level: str = "node") -> None:
        self.name, self.level, self.scores = "list", level, torch.tensor(scores)

    def rank(self, model, data, target, node):
        return self.scores


class Model(torch.nn.Module):
    def __init__(self, task: str = "graph") -> None:
        super().__init__()
        torch.manual_seed(0)
        self.task = task
        self.conv = GINConv(torch.nn.Linear(2, 3))
        self.head = torch.nn.Linear(3, 2)

    def forward(self, x, edge_index, batch=None):
        x = self.conv(x, edge_index).relu()
        return self.head(global_add_pool(x, batch) if self.task == "graph" else x)


def bull() -> Data:
    """A triangle 0-1-2 with horns 1-3 and 2-4."""
    edges = torch.tensor([[0, 0, 1, 1, 2], [1, 2, 2, 3, 4]])
    torch.manual_seed(1)
    return Data(x=torch.randn(5, 2), edge_index=to_undirected(edges))


def pairs(data: Data, mask: torch.Tensor) -> set[tuple[int, int]]:
    return {(min(e), max(e)) for e in data.edge_index[:, mask].T.tolist()}


def test_node_ranking_group_enters_with_the_last_of_its_nodes():
    data = bull()
    ranking = rank_nodes(torch.tensor([3.0, 5.0, 4.0, 1.0, 2.0]), prepare_graph(data, "auto"))
    ends = [tuple(sorted(e)) for e in data.edge_index.T.tolist()]
    group = prepare_graph(data, "auto").groups.index.tolist()
    named = dict(zip(group, ends, strict=True))
    entered = [named[g] for g in ranking.order.tolist()]
    assert entered[0] == (1, 2)
    assert set(entered[1:3]) == {(0, 1), (0, 2)}
    assert entered[3:] == [(2, 4), (1, 3)]
    assert ranking.cuts == (1, 3, 4, 5)
    assert ranking.score[ranking.order].tolist() == [4, 3, 3, 2, 1]


def test_kept_candidates_are_node_induced_and_removed_ones_edge_induced():
    ranking = rank_nodes(torch.tensor([3.0, 5.0, 4.0, 1.0, 2.0]), prepare_graph(bull(), "auto"))
    kept, removed = ranking.kept([1, 3, 4]), ranking.removed([1, 3, 4])
    assert kept.subgraph_kind is SubgraphKind.NODE_INDUCED
    assert removed.subgraph_kind is SubgraphKind.EDGE_INDUCED
    assert kept.rows(0, 3).int().tolist() == [[0, 1, 1, 0, 0], [1, 1, 1, 0, 0], [1, 1, 1, 0, 1]]
    assert (~removed.rows(0, 3)).sum(1).tolist() == [1, 3, 4]


def test_nodes_that_tie_enter_together_even_without_an_edge():
    ranking = rank_nodes(torch.tensor([2.0, 2.0, 1.0, 2.0, 0.0]), prepare_graph(bull(), "auto"))
    assert ranking.cuts == (2, 4, 5)  # 0-1 and 1-3, then node 2, then node 4
    tied = rank_nodes(torch.tensor([2.0, 2.0, 1.0, 1.0, 1.0]), prepare_graph(bull(), "auto"))
    assert tied.cuts == (1, 5)
    lonely = rank_nodes(torch.tensor([0.0, 2.0, 2.0, 0.0, 2.0]), prepare_graph(bull(), "auto"))
    assert lonely.kept([2]).rows(0, 1).int().tolist() == [[0, 1, 1, 0, 1]]


def test_node_ranking_of_scores_that_are_all_zero_is_one_tie():
    assert rank_nodes(torch.zeros(5), prepare_graph(bull(), "auto")).cuts == (5,)


def test_node_ranking_size_takes_the_whole_tie_unless_it_splits_it():
    path = Data(edge_index=to_undirected(torch.tensor([[0, 1, 2, 3], [1, 2, 3, 4]])), num_nodes=5)
    whole = rank_nodes(torch.tensor([2.0, 2.0, 0.0, 2.0, 1.0]), prepare_graph(path, "auto"))
    assert whole.kept([1]).rows(0, 1).int().tolist() == [[1, 1, 0, 1, 0]]  # node 3, without an edge
    split = rank_nodes(torch.tensor([2.0, 2.0, 2.0, 1.0, 0.0]), prepare_graph(path, "auto"))
    assert split.kept([1, 2]).rows(0, 2).int().tolist() == [[1, 1, 0, 0, 0], [1, 1, 1, 0, 0]]


def test_node_ranking_size_between_two_nodes_falls_to_the_smaller_one():
    ranking = rank_nodes(torch.tensor([3.0, 5.0, 4.0, 1.0, 2.0]), prepare_graph(bull(), "auto"))
    assert [ranking.within(size) for size in range(1, 6)] == [1, 1, 3, 4, 5]
    star = Data(edge_index=to_undirected(torch.tensor([[0, 0, 0], [1, 2, 3]])), num_nodes=4)
    late = rank_nodes(torch.tensor([0.0, 1.0, 1.0, 1.0]), prepare_graph(star, "auto"))
    assert late.within(1) == 3  # the hub comes last and brings all of them


def test_node_ranking_search_over_node_scores_reports_sizes_in_groups():
    data, model = bull(), Model()
    ranker = FromList([3.0, 5.0, 4.0, 1.0, 2.0])
    ex = eigsearch.explain(model, data, ranker=ranker, sparsity=0.0)
    assert ex.curve.size.tolist() == [3, 4]  # 2 to 4 groups that end with a node
    assert ex.size == int(ex.found.size)
    for size in ex.curve.size.tolist():
        cut = ex.at(size)
        inside = data.subgraph(cut.node_mask)
        assert inside.num_edges == 2 * size
        with torch.no_grad():
            alone = model(inside.x, inside.edge_index).softmax(-1)[0, ex.target]
        assert float(cut.found.kept) == pytest.approx(float(alone), abs=1e-6)


def test_node_ranking_complement_of_a_node_set_is_edge_induced():
    data, model = bull(), Model()
    ex = eigsearch.explain(model, data, ranker=FromList([3.0, 5.0, 4.0, 1.0, 2.0]), sparsity=0.3)
    rest = data.edge_subgraph(~ex.at(3).edge_mask)
    ends = torch.zeros(5, dtype=torch.bool)
    ends[rest.edge_index.flatten()] = True
    rest = rest.subgraph(ends)
    with torch.no_grad():
        without = model(rest.x, rest.edge_index).softmax(-1)[0, ex.target]
    assert float(ex.at(3).found.removed) == pytest.approx(float(without), abs=1e-6)


def test_node_ranking_explained_node_is_in_from_the_start():
    data = bull()
    ranker = FromList([1.0, 0.0, 2.0, 3.0])  # the nodes that reach node 1, which itself comes last
    ex = eigsearch.explain(Model("node"), data, node=1, ranker=ranker, search=None, size=1)
    assert pairs(data, ex.edge_mask) == {(1, 3)}
    assert ex.config["ranker"] == "list"


def test_without_a_search_the_sparsity_alone_fixes_the_size():
    data, model = bull(), Model()
    edges = FromList([float(i) for i in range(10)], "edge")
    assert eigsearch.explain(model, data, ranker=edges, search=None, sparsity=0.4).size == 3
    assert eigsearch.explain(model, data, ranker=edges, search=None, sparsity=0.8).size == 2
    assert eigsearch.explain(model, data, ranker=edges, search=None, size=4).size == 4
    nodes = FromList([3.0, 5.0, 4.0, 1.0, 2.0])
    assert eigsearch.explain(model, data, ranker=nodes, search=None, sparsity=0.4).size == 3
    assert eigsearch.explain(model, data, ranker=nodes, search=None, size=2).size == 1


@pytest.mark.parametrize("scores", [[1.0], [1.0, 2.0, 3.0, 4.0, float("nan")]])
def test_scores_that_do_not_fit_are_refused(scores):
    with pytest.raises(InputError, match="one finite score for each of 5 nodes"):
        eigsearch.explain(Model(), bull(), ranker=FromList(scores))


def test_ranking_nodes_does_not_depend_on_their_order():
    data, model = bull(), Model()
    score = torch.tensor([2.0, 2.0, 2.0, 1.0, 1.0])
    perm = torch.tensor([4, 2, 0, 3, 1])
    place = torch.empty_like(perm)
    place[perm] = torch.arange(5)
    other = Data(x=data.x[perm], edge_index=place[data.edge_index])
    one = eigsearch.explain(model, data, ranker=FromList(score.tolist()), sparsity=0.0)
    two = eigsearch.explain(model, other, ranker=FromList(score[perm].tolist()), sparsity=0.0)
    assert one.gain == pytest.approx(two.gain, abs=1e-6)
    assert torch.equal(one.edge_mask, two.edge_mask)
