"""Balance of flows: the rewards of node sets, and how far flows are from matching them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from eigsearch.candidates import ExplicitMasks, SubgraphKind
from eigsearch.engines import Request
from eigsearch.engines.predictor import Predictor
from eigsearch.explainers.games.coalitions import undirected_graph
from eigsearch.explainers.generators.gflow_explainer.flows import (
    FlowNetwork,
    allowed_flows,
    log_inflow,
    log_outflow,
    log_reward,
    log_stop,
    parents,
    roll_out,
)
from eigsearch.explainers.generators.rg_explainer.growth import RolloutBatch, at_random
from eigsearch.inference.prediction import PredictedInstance
from eigsearch.inputs.instance import Instance, PreparedInstance
from eigsearch.options import Options

_EXPLORING = 0.25  # of the sets grown in training that grow at random


class Rewards:
    """The rewards of node sets: the probability of the class on the subgraph that they induce."""

    def __init__(self, model: Any, instances: Sequence[PredictedInstance]) -> None:
        self._predictor = Predictor(model, Options())
        requested = [Instance(q.source, q.target.index, q.source_node) for q in instances]
        self.instances = self._predictor.predict(requested)
        self.graphs = [undirected_graph(instance.data) for instance in self.instances]
        self._known: dict[tuple[int, frozenset[int]], float] = {}

    @property
    def largest(self) -> int:
        """The number of nodes of the largest graph."""
        return max(instance.num_nodes for instance in self.instances)

    def __call__(self, sets: Sequence[tuple[int, frozenset[int]]]) -> Tensor:
        """Return the reward of each set, given with the number of its instance."""
        new = [key for key in dict.fromkeys(sets) if key not in self._known]
        requests = []
        for number, nodes in new:
            row = torch.zeros(1, self.instances[number].num_nodes, dtype=torch.bool)
            row[0, sorted(nodes)] = True
            candidates = ExplicitMasks(row, SubgraphKind.NODE_INDUCED)
            requests.append(Request(self.instances[number], candidates))
        with torch.no_grad():
            scores = self._predictor.evaluator.scores(requests) if requests else []
        for key, phi in zip(new, scores, strict=True):
            self._known[key] = float(self.instances[key[0]].target.value(phi[0]))
        return torch.tensor([self._known[key] for key in sets])


class Flow:
    """Flows over the node sets of several graphs, and how far they are from being balanced."""

    def __init__(self, network: FlowNetwork, rewards: Rewards, limit: int) -> None:
        self.network = network
        self.rewards = rewards
        self.limit = limit

    def imbalance(self, numbers: Sequence[int]) -> Tensor:
        """Return the mean squared imbalance at one state of a growth for each instance number."""
        states = self._visited(numbers)
        nodes = [
            [] if len(s) <= (self._start(n) is not None) else parents(
                self.rewards.graphs[n], set(s), self._start(n)
            )
            for n, s in zip(numbers, states, strict=True)
        ]  # fmt: skip
        instances = [self.rewards.instances[number] for number in numbers]
        batch = RolloutBatch(instances, [1 + len(last) for last in nodes])
        member, state_copy, last, owner = self._lay_out(batch, states, nodes)
        flow = allowed_flows(
            self.network, batch, starts(instances, batch, nodes), member, self.limit
        )
        error = self._stop_error(flow, batch, numbers, states, state_copy)
        if last:
            inflow = log_inflow(flow, torch.tensor(last), torch.tensor(owner), len(states))
            outflow = log_outflow(flow, batch, state_copy)
            reached = torch.tensor([bool(node) for node in nodes])
            error = error + (inflow - outflow)[reached].square().sum()
        return error / len(states)

    def _stop_error(
        self,
        flow: Tensor,
        batch: RolloutBatch,
        numbers: Sequence[int],
        states: Sequence[frozenset[int]],
        state_copy: Sequence[int],
    ) -> Tensor:
        """Return Σ (log flow of stopping − log reward)² over the states that may stop."""
        held = [i for i, state in enumerate(states) if state]
        if not held:
            return torch.zeros(())
        reward = self.rewards([(numbers[i], states[i]) for i in held])
        stop = flow[batch.copy.numel() + torch.tensor([state_copy[i] for i in held])]
        return (log_stop(stop) - log_reward(reward)).square().sum()

    def _visited(self, numbers: Sequence[int]) -> list[frozenset[int]]:
        """Grow a set for each instance; return one of the states on its way, at random."""
        instances = [self.rewards.instances[number] for number in numbers]
        batch = RolloutBatch(instances, [1] * len(instances))
        start = starts(instances, batch)
        explore = torch.rand(len(batch)) < _EXPLORING
        joined_at = roll_out(self.network, batch, start, self.limit, at_random, explore)
        states = []
        for number, joined in zip(numbers, joined_at.split(_sizes(instances)), strict=True):
            latest = int(joined.max())
            first = 0 if self._start(number) is not None else 1  # nothing flows into the root
            cut = int(torch.randint(first, latest + 1, ()))
            states.append(frozenset(((joined >= 0) & (joined <= cut)).nonzero().flatten().tolist()))
        return states

    def _lay_out(
        self,
        batch: RolloutBatch,
        states: Sequence[frozenset[int]],
        nodes: Sequence[Sequence[int]],
    ) -> tuple[Tensor, list[int], list[int], list[int]]:
        """Return members of all copies, the copy of each state, the parents' actions and owners."""
        member = torch.zeros(batch.copy.numel(), dtype=torch.bool)
        state_copy, last, owner, copy = [], [], [], 0
        for number, (state, removed) in enumerate(zip(states, nodes, strict=True)):
            state_copy.append(copy)
            for without in [None, *removed]:
                first = int(batch.start[copy])
                member[[first + node for node in state if node != without]] = True
                if without is not None:
                    last.append(first + without)
                    owner.append(number)
                copy += 1
        return member, state_copy, last, owner

    def _start(self, number: int) -> int | None:
        return self.rewards.instances[number].node


def starts(
    instances: Sequence[PreparedInstance],
    batch: RolloutBatch,
    parents_of: Sequence[Sequence[int]] | None = None,
) -> Tensor:
    """Return the explained node in each copy; nothing for graphs."""
    if instances[0].node is None:
        return torch.zeros(0, dtype=torch.long)
    copies = [1 + len(p) for p in parents_of] if parents_of else [1] * len(instances)
    nodes = torch.tensor([instance.node for instance in instances])
    return nodes.repeat_interleave(torch.tensor(copies)) + batch.start


def _sizes(instances: Sequence[PreparedInstance]) -> list[int]:
    return [instance.num_nodes for instance in instances]
