"""What every explanation promises, checked on the answers of a case."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch_geometric.data import Data

from benchmarks.fuzz.cases import Case
from benchmarks.fuzz.plain import Plain
from benchmarks.fuzz.same import promise, same_answers
from eigsearch import SubgraphExplanation
from eigsearch.search import size_range

Answers = list[SubgraphExplanation]
EDGE_LEVEL = ("edge_attr", "edge_weight", "edge_type")


# Of each answer by itself: cheap, so they are checked every time --------------------------------


def numbers_are_finite(case: Case, answers: Answers) -> None:
    for ex in answers:
        columns = [ex.score, ex.curve.fidelity_plus, ex.curve.fidelity_minus, ex.curve.kept]
        promise(all(bool(torch.isfinite(c).all()) for c in columns), "finite numbers")
        promise(math.isfinite(ex.value), "a finite value")
        promise(ex.size == 0 or math.isfinite(ex.gain), "a finite gain")
        if ex.config["task"] != "regression":
            promise(0 <= ex.value <= 1, "a probability between 0 and 1")


def groups_are_kept_whole(case: Case, answers: Answers) -> None:
    for ex in answers:
        local = torch.arange(ex.data.num_edges) if ex.edges is None else ex.edges
        mask, score = ex.edge_mask[local], ex.edge_score[local]
        member = ex.group >= 0
        group = ex.group[member]
        promise(torch.equal(mask[member], ex.keep[group]), "one mask for each group")
        promise(torch.equal(score[member], ex.score[group]), "one score for each group")
        promise(not mask[~member].any(), "edges that are never removed are never chosen")
        promise(int(mask.sum()) == int(ex.edge_mask.sum()), "no edge out of reach is chosen")


def directions_go_together(case: Case, answers: Answers) -> None:
    if case.options["groups"] != "auto":
        return
    for ex in answers:
        edges = list(zip(*ex.data.edge_index.tolist(), strict=True))
        if sorted(edges) != sorted((v, u) for u, v in edges) or len(set(edges)) < len(edges):
            continue  # directed, or with parallel edges, whose pairing is not by ends alone
        columns = zip(ex.edge_score.tolist(), ex.edge_mask.tolist(), strict=True)
        found = dict(zip(edges, columns, strict=True))
        shared = all(found[u, v] == found[v, u] for u, v in edges)
        promise(shared, "directions share score and mask")


def size_is_allowed(case: Case, answers: Answers) -> None:
    for ex in answers:
        low, high = size_range(ex.num_groups, case.options["sparsity"], case.options["min_size"])
        promise(low <= ex.size <= high, f"a size from {low} to {high}, not {ex.size}")
        tried = ex.curve.size.tolist()
        promise(all(low <= size <= high for size in tried), f"sizes from {low} to {high} tried")


def no_node_is_isolated(case: Case, answers: Answers) -> None:
    for ex in answers:
        subgraph, nodes = ex.subgraph(), ex.node_mask.nonzero().flatten()
        ends = nodes[subgraph.edge_index.unique()].tolist()
        explained = [] if ex.node is None else [ex.node]
        promise(
            nodes.tolist() == sorted({*ends, *explained}), "no isolated node in the explanation"
        )
        edges = int(ex.edge_mask.sum()) + int((ex.group < 0).sum())
        promise(subgraph.num_edges == edges, "the subgraph has the chosen edges")


ALWAYS: tuple[Callable[[Case, Answers], None], ...] = (
    numbers_are_finite, groups_are_kept_whole, directions_go_together, size_is_allowed,
    no_node_is_isolated,
)  # fmt: skip


# Between answers, or against the bare model: each case is checked for some of them --------------


def the_same_again(case: Case, answers: Answers) -> None:
    # Where numbers of 1e30 drown others, the first run may find that an engine does not serve.
    near = 1e-9 if case.scale == "extreme" else 0.0
    for one, again in zip(answers, case.answers(), strict=True):
        same = torch.allclose(one.score, again.score, rtol=near, atol=0.0)
        promise(same, "the same scores in a second run")
        promise(torch.equal(one.keep, again.keep), "the same subgraph in a second run")


def the_same_alone(case: Case, answers: Answers) -> None:
    alone = []
    for number, data in enumerate(case.graphs):
        nodes = [None] if case.nodes is None else case.nodes[number]
        alone += [case.about([data], None if n is None else [[n]]).answers()[0] for n in nodes]
    same_answers(case, answers, alone, "alone and in a data set")


def the_same_with_the_other_engine(case: Case, answers: Answers) -> None:
    other = "incremental" if answers[0].engine == "batched" else "batched"
    same_answers(case, answers, case.answers(engine=other), f"with engine {other}")


def the_same_on_another_budget(case: Case, answers: Answers) -> None:
    budget = case.dice.choice([30, 60, 500])  # two graphs at least: see whether they disturb
    other = case.answers(max_batch_nodes=budget)
    same_answers(case, answers, other, f"on a budget of {budget} nodes")


def the_same_with_other_names(case: Case, answers: Answers) -> None:
    """Number nodes and edges in another order: the answer is about the same edges."""
    orders = [(case.dice.order(int(g.num_nodes)), _edge_order(case, g)) for g in case.graphs]
    graphs = [renamed(g, *order) for g, order in zip(case.graphs, orders, strict=True)]
    nodes = case.nodes and [
        [int(order[0][n]) for n in chosen] for order, chosen in zip(orders, case.nodes, strict=True)
    ]
    groups = case.options["groups"]
    groups = groups[orders[0][1]] if isinstance(groups, Tensor) else groups
    other = case.about(graphs, nodes, groups=groups).answers()
    asked = [1] * len(graphs) if case.nodes is None else map(len, case.nodes)
    edges = [order[1] for order, count in zip(orders, asked, strict=True) for _ in range(count)]
    same_answers(case, answers, other, "with other names", edges)


def _edge_order(case: Case, data: Data) -> Tensor:
    """Return another order of the edges.

    Edges that nothing tells apart stay where they are: which of them has which partner is open.
    """
    names = [name for name in EDGE_LEVEL if name in data]
    columns = [data[name].reshape(data.num_edges, -1).double() for name in names if data.num_edges]
    rows = torch.cat([data.edge_index.t().double(), *columns], dim=1)
    if len(rows.unique(dim=0)) < data.num_edges:
        return torch.arange(data.num_edges)
    return case.dice.order(data.num_edges)


def renamed(data: Data, nodes: Tensor, edges: Tensor) -> Data:
    """Return the graph with node i called nodes[i], and its edges in another order."""
    other = copy.copy(data)
    other.edge_index = nodes[data.edge_index.long()][:, edges].to(data.edge_index.dtype)
    for name in ("x", "pos"):
        if name in data:
            other[name] = data[name][nodes.argsort()]
    for name in EDGE_LEVEL:
        if name in data:
            other[name] = data[name][edges]
    return other


def fidelities_are_the_models(case: Case, answers: Answers) -> None:
    """Call the bare model on the cut-out subgraph and on what is left of the graph."""
    plain = Plain(case)
    for ex in answers:
        whole, kept, removed = plain.values(ex)
        near = plain.tolerance(ex)
        promise(abs(whole - ex.value) <= near, f"value {ex.value}, the model says {whole}")
        if ex.size:
            found = float(ex.found.kept), float(ex.found.removed)
            promise(abs(kept - found[0]) <= near, f"kept {found[0]}, the model says {kept}")
            promise(
                abs(removed - found[1]) <= near, f"removed {found[1]}, the model says {removed}"
            )


def drops_are_the_models(case: Case, answers: Answers) -> None:
    """Call the bare model on the graph without one group."""
    plain = Plain(case)
    for ex in answers:
        if ex.num_groups:
            number = case.dice.randrange(ex.num_groups)
            drop, found = plain.drop(ex, number)
            words = f"drop of group {number}: {found}, the model says {drop}"
            promise(abs(drop - found) <= plain.tolerance_of_drop(ex), words)


def refining_does_not_lose(case: Case, answers: Answers) -> None:
    search = case.dice.choice(["resweep", "refine", "anchored"])
    pairs = zip(case.answers(search="sweep"), case.answers(search=search), strict=True)
    for swept, found in pairs:
        if swept.size:
            slack = 2e-3 * max(1.0, abs(swept.gain), abs(swept.value))  # what resweep may trade
            promise(found.gain >= swept.gain - slack, f"gain {found.gain}, {swept.gain} by sweep")


SOMETIMES: tuple[Callable[[Case, Answers], None], ...] = (
    the_same_again, the_same_alone, the_same_with_the_other_engine, the_same_on_another_budget,
    the_same_with_other_names, fidelities_are_the_models, drops_are_the_models,
    refining_does_not_lose,
)  # fmt: skip
# What holds for any numbers; the others compare numbers, which wild ones drown in rounding.
WITHOUT_NUMBERS = (the_same_again,)


def nothing_is_changed(before: list[Tensor], case: Case) -> None:
    after = fingerprint(case)
    same = len(before) == len(after)
    same = same and all(a.equal(b) for a, b in zip(before, after, strict=True))
    promise(same, "the model and the graphs as they were")


def fingerprint(case: Case) -> list[Tensor]:
    """Return copies of all that a run may not change."""
    modes = torch.tensor([module.training for module in case.model.modules()])
    state = [value.clone() for value in case.model.state_dict().values()]
    graphs = [v.clone() for g in case.graphs for v in g.to_dict().values() if isinstance(v, Tensor)]
    return [modes, *state, *graphs]
