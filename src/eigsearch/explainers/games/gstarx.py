"""GStarX: the value of nodes in a game that only connected coalitions can play."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import networkx as nx
import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.candidates import SubgraphKind
from eigsearch.errors import UnsupportedError
from eigsearch.explainers.base import Card, Method, ScoreType, check_choice
from eigsearch.explainers.common.node_masks import (
    NodeMaskEvaluator,
    evaluate_node_masks,
    require_features,
)
from eigsearch.explainers.games.coalitions import undirected_graph

_SETTLED = 1e-9  # change of the powers of a matrix at which their limit is reached
_MAX_SQUARINGS = 64


class GStarX(Method):
    """Scores nodes by their Hamiache–Navarro value.

    A coalition is worth the probability of the class on the subgraph that it induces, less that of
    the graph with all features zero. In the associated game a connected coalition S adds
    τ · Σ_j [v(S ∪ j) − v(S) − v(j)] over its neighbours j; repeated for ever, what single nodes are
    worth converges to their value. Up to `exact_size` nodes this is exact. In larger graphs values
    are averaged over `samples` random subgraphs of that size: with `sampling="grown"` connected
    ones, grown from each node in turn; with `"random"` any nodes, and with `"hops"` the nearest
    nodes to each in turn, as in the authors' configurations.

    `offset` is subtracted from the worth of every coalition instead of the probability for zero
    features; the authors take the mean probability over their data set.
    """

    card: ClassVar[Card] = Card(
        name="GStarX",
        level="node",
        citation="Zhang et al., GStarX: Explaining GNNs with Structure-Aware Games, NeurIPS 2022",
        score_type=ScoreType.SIGNED,
        faithful_to="the paper",
        cost="one prediction per connected coalition",
        deviations=(
            "payoff less that of zero features, not less its mean over a data set",
            "larger graphs are sampled by connected sets grown from each node, unless `sampling` "
            "says otherwise",
        ),
        tasks=("graph",),
        needs=("node features",),
        seeded=True,
        color="blue",
        dash="dashed",
    )
    cheap_options = MappingProxyType({"samples": 3})

    def __init__(
        self,
        exact_size: int = 10,
        samples: int = 50,
        tau: float = 0.01,
        seed: int = 0,
        sampling: Literal["grown", "random", "hops"] = "grown",
        offset: float | None = None,
    ) -> None:
        check_choice("sampling", sampling, ("grown", "random", "hops"))
        self.sampling = sampling
        self.offset = offset
        self.exact_size = exact_size
        self.samples = samples
        self.tau = tau
        self.seed = seed

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return the value of each node; a node that no sample holds gets zero."""
        require_features(data, self.name)
        if node is not None:
            raise UnsupportedError(
                "Expected a graph-level evaluator, whose nodes play for it together (got node "
                f"{node}). Choose a method that has node tasks."
            )
        with evaluate_node_masks(model, data, target, node) as evaluator:
            games = [Game(players, graph) for graph, players in self._boards(evaluator.data)]
            rows = torch.cat([game.rows(evaluator.count) for game in games])
            base = self._base(evaluator)
            worths = (evaluator.values(rows, SubgraphKind.NODE_INDUCED) - base).split(
                [len(g) for g in games]
            )
        total, count = torch.zeros(2, evaluator.count, dtype=torch.float64)
        for game, worth in zip(games, worths, strict=True):
            total[game.players] += game.values(worth, self.tau)
            count[game.players] += 1
        return evaluator.scatter_node_scores(total / count.clamp_min(1))

    def _base(self, evaluator: NodeMaskEvaluator) -> Tensor:
        """Return what is subtracted from the worth of every coalition."""
        if self.offset is not None:
            return torch.tensor([self.offset])
        nothing = torch.zeros(1, evaluator.count, dtype=torch.bool)
        return evaluator.values(nothing, SubgraphKind.ZEROED_FEATURES)

    def _boards(self, data: Data) -> list[tuple[nx.Graph, list[int]]]:
        """Return the graph with the players of each game."""
        graph, random = undirected_graph(data), Random(self.seed)
        if len(graph) <= self.exact_size:
            return [(graph, list(graph))]
        starts = [number % len(graph) for number in range(max(self.samples, len(graph)))]
        return [(graph, self._players(graph, start, random)) for start in starts]

    def _players(self, graph: nx.Graph, start: int, random: Random) -> list[int]:
        if self.sampling == "grown":
            return self._grown(graph, start, random)
        if self.sampling == "random":
            return sorted(random.sample(sorted(graph), self.exact_size))
        distance = nx.single_source_shortest_path_length(graph, start)
        return sorted(sorted(distance, key=lambda v: (distance[v], v))[: self.exact_size])

    def _grown(self, graph: nx.Graph, start: int, random: Random) -> list[int]:
        players = {start}
        while len(players) < self.exact_size:
            boundary = sorted({other for v in players for other in graph[v]} - players)
            if not boundary:
                break
            players.add(random.choice(boundary))
        return sorted(players)


class Game:
    """A game of few players, in which coalitions are bit sets and only connected ones play."""

    def __init__(self, players: Sequence[int], graph: nx.Graph) -> None:
        self.players = list(players)
        position = {player: i for i, player in enumerate(self.players)}
        self._next_to = [
            sum(1 << position[other] for other in graph[player] if other in position)
            for player in self.players
        ]
        everyone = range(1, 1 << len(self.players))
        self.coalitions = [coalition for coalition in everyone if self._connected(coalition)]

    def __len__(self) -> int:
        return len(self.coalitions)

    def rows(self, width: int) -> Tensor:
        """Return the coalitions as keep-rows over all nodes of the graph."""
        bits = torch.tensor(self.coalitions)[:, None] >> torch.arange(len(self.players)) & 1
        rows = torch.zeros(len(self), width, dtype=torch.bool)
        rows[:, self.players] = bits.bool()
        return rows

    def values(self, worth: Tensor, tau: float) -> Tensor:
        """Return the Hamiache–Navarro value of each player, given the worth of the coalitions."""
        power = self._associated(tau)
        for _ in range(_MAX_SQUARINGS):
            power, before = power @ power, power
            if float((power - before).abs().max()) < _SETTLED:
                break
        alone = [self.coalitions.index(1 << i) for i in range(len(self.players))]
        return (power @ worth.double())[alone]

    def _associated(self, tau: float) -> Tensor:
        """Return the matrix that turns the worth of connected coalitions into the associated one.

        Worth of connected coalitions alone determines it: a neighbour keeps them connected.
        """
        index = {coalition: i for i, coalition in enumerate(self.coalitions)}
        matrix = torch.eye(len(self), dtype=torch.float64)
        for coalition, row in index.items():
            for j in _bits(self._boundary(coalition)):
                matrix[row, index[coalition | 1 << j]] += tau
                matrix[row, row] -= tau
                matrix[row, index[1 << j]] -= tau
        return matrix

    def _boundary(self, coalition: int) -> int:
        near = 0
        for i in _bits(coalition):
            near |= self._next_to[i]
        return near & ~coalition

    def _connected(self, coalition: int) -> bool:
        reached, before = coalition & -coalition, 0
        while reached != before:
            before = reached
            reached |= self._boundary(reached) & coalition
        return reached == coalition


def _bits(number: int) -> list[int]:
    return [i for i in range(number.bit_length()) if number >> i & 1]
