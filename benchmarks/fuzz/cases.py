"""A case: a random model, some random graphs and random options, all from one number."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

import eigsearch
from benchmarks.fuzz.dice import Dice
from benchmarks.fuzz.graphs import draw_graph
from benchmarks.fuzz.models import Plan, draw_model, draw_plan
from eigsearch import SubgraphExplanation

_GRAPHS, _GRAPHS_WITH_NODES = 64, 16  # at most in a case; they share a model and its calls


@dataclass(frozen=True, eq=False)
class Case:
    """Questions to one model.

    Attributes:
        number: Which case it is.
        plan: What the model is made of.
        model: The model.
        graphs: The graphs.
        nodes: The nodes to explain in each graph; None where graphs are explained.
        options: Keywords of `explain_dataset`.
        scale: How far the numbers of the graphs reach.
        dice: What is left of the case's randomness, for the checks.
        notes: How often a check compared answers, and how often it had to look for ties.
    """

    number: int
    plan: Plan
    model: nn.Module
    graphs: list[Data]
    nodes: list[list[int]] | None
    options: dict[str, Any]
    scale: str
    dice: Dice
    notes: Counter[str] = field(default_factory=Counter)

    @property
    def single(self) -> bool:
        """Whether the model computes in single precision."""
        return self.graphs[0].x.dtype == torch.float32

    def answers(self, **changes: Any) -> list[SubgraphExplanation]:
        """Return the explanations, with model calls shared; `changes` replaces options."""
        options = {**self.options, **changes}
        if self.nodes is None:
            return list(eigsearch.explain_dataset(self.model, self.graphs, **options))
        asked = zip(self.graphs, self.nodes, strict=True)
        found = (eigsearch.explain_dataset(self.model, g, node=n, **options) for g, n in asked)
        return [answer for answers in found for answer in answers]

    def about(self, graphs: list[Data], nodes: list[list[int]] | None, **options: Any) -> Case:
        """Return the same case about other graphs."""
        return replace(self, graphs=graphs, nodes=nodes, options={**self.options, **options})

    def __str__(self) -> str:
        return f"case {self.number}: {self.plan}, {self.graphs}, nodes={self.nodes}, {self.options}"


def draw_case(seed: int, number: int) -> Case:
    """Return a case; the same seed and number give the same one."""
    dice = Dice(seed, number)
    plan = draw_plan(dice)
    scale = dice.weighted({"tame": 0.8, "wide": 0.15, "extreme": 0.05})
    dtype = dice.weighted({torch.float64: 0.7, torch.float32: 0.3})
    if plan.whole:  # written for such numbers
        scale, dtype = "tame", torch.float64
    model = draw_model(plan, dice, dtype)
    reads = set(plan.reads)
    if dice.chance(0.1):
        reads.add("edge_weight")  # counts in the linear gradient whether the model reads it or not
    partition = dice.chance(0.1)
    count = 1 if partition else dice.randint(1, _GRAPHS if plan.pool else _GRAPHS_WITH_NODES)
    graphs = [draw_graph(dice, reads, scale, dtype) for _ in range(count)]
    nodes = None if plan.pool else [draw_nodes(dice, graph) for graph in graphs]
    options = draw_options(dice, plan)
    if partition:
        options["groups"] = draw_partition(dice, graphs[0].num_edges)
    return Case(number, plan, model, graphs, nodes, options, scale, dice)


def draw_nodes(dice: Dice, data: Data) -> list[int]:
    """Return a few nodes of a graph."""
    return sorted(dice.some(range(int(data.num_nodes)), 1 + dice.chance(0.3)))


def draw_partition(dice: Dice, num_edges: int) -> Tensor:
    """Return groups that a user might pass, -1 among them."""
    return dice.below(dice.randint(1, 8), num_edges) - int(dice.chance(0.5))


def draw_options(dice: Dice, plan: Plan) -> dict[str, Any]:
    """Return keywords of `explain_dataset`."""
    options: dict[str, Any] = {
        "search": dice.weighted({"sweep": 0.7, "resweep": 0.1, "refine": 0.1, "anchored": 0.1}),
        "engine": dice.weighted({"auto": 0.6, "incremental": 0.2, "batched": 0.2}),
        "sparsity": dice.choice([0.0, 0.3, 0.5, 0.7, 0.9]),
        "min_size": dice.weighted({1: 0.2, 2: 0.7, 4: 0.1}),
        "groups": dice.weighted({"auto": 0.8, "directed": 0.1, "undirected": 0.1}),
    }
    if dice.chance(0.05):
        options["max_batch_nodes"] = dice.choice([20, 200])
    if plan.end == "raw" and dice.chance(0.25):
        options |= {"task": "regression", "target": dice.randrange(plan.outputs)}
        return options
    if plan.end == "raw" and plan.whole:  # which may be numbers from 0 to 1
        options["return_type"] = "raw"
    if plan.end == "raw" and plan.outputs == 1:  # which the library would have to ask for
        options |= {"task": "binary", "return_type": "raw"}
    if dice.chance(0.3):
        options["target"] = dice.randrange(max(plan.outputs, 2))
    return options
