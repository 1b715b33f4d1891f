"""Generate Two-Ways: links between users and items that one of two kinds of path decides.

A user who buys likes an item that shares an attribute with one they bought; a user who views likes
an item that a critic praises who also praises one they viewed. Every pair is joined by several
paths of the kind that does not count for its user, so that lying on a short path says little, and
inner nodes of true and of other paths have the same degrees.
"""

from typing import NamedTuple

import torch
from numpy.random import RandomState
from torch_geometric.data import HeteroData

from eigsearch.datasets.link_truth import set_link_truth
from eigsearch.datasets.typed_builder import EdgeType, TypedGraphBuilder

# By how a user is joined to items: the type of the nodes whose paths decide, and of the others.
KINDS: tuple[tuple[EdgeType, str, str], ...] = (
    (("user", "buys", "item"), "attribute", "critic"),
    (("user", "views", "item"), "critic", "attribute"),
)
JOINS: dict[str, EdgeType] = {
    "attribute": ("attribute", "marks", "item"),
    "critic": ("critic", "praises", "item"),
}
COLOURS = 6  # of attributes and of critics; around a pair, equal colours are one node
DISTRACTORS = 4
SHARED = 0.25  # of the inner nodes lie on a path of another pair as well
Edges = list[tuple[EdgeType, int]]


def two_ways(seed: int = 0, count: int = 600) -> tuple[HeteroData]:
    """Return one graph with `count` pairs of a user and an item, half of them linked.

    Attributes and critics have a colour, one-hot in `x`. A linked pair has one or two paths of the
    kind that decides. In the others these paths are cut: both halves are there, but end in nodes of
    different colours.
    """
    return (_Generator(RandomState(seed)).generate(count),)


class _Generator:
    def __init__(self, rng: RandomState) -> None:
        self.rng, self.builder = rng, TypedGraphBuilder()
        self.colours: dict[str, list[int]] = {inner: [] for inner in JOINS}
        self.unshared: dict[tuple[str, int], list[int]] = {}  # inner nodes by type and colour

    def generate(self, count: int) -> HeteroData:
        links, truth = [], []
        labels = [number // 2 % 2 for number in range(count)]
        for number, label in enumerate(labels):
            user, item, edges = self._add_pair(number % 2, label)
            links.append((user, item))
            truth.append(edges)
        data = self.builder.to_data()
        for node_type in ("user", "item"):
            data[node_type].x = torch.full((data[node_type].num_nodes, 1), 0.1)
        for inner, colours in self.colours.items():
            data[inner].x = torch.eye(COLOURS)[colours]
        data.edge_label_index = torch.tensor(links).t().contiguous()
        data.y = torch.tensor(labels)
        set_link_truth(data, truth)
        return data

    def _add_pair(self, kind: int, label: int) -> tuple[int, int, Edges]:
        """Add a pair and its paths; return its ends and the edges of the paths that decide."""
        reaches, deciding, other = KINDS[kind]
        user, item = self.builder.add_node("user"), self.builder.add_node("item")
        colours = {inner: self.rng.permutation(COLOURS).tolist() for inner in JOINS}
        decisive: Edges = []
        for _ in range(self.rng.randint(1, 3)):
            first = self._add_first_half(user, reaches, deciding, colours[deciding].pop())
            if label:
                decisive += [*first.edges, self._join(first.inner, first.node, item)]
            else:
                self._cut(first, item, colours[deciding].pop())
        for _ in range(DISTRACTORS):
            first = self._add_first_half(user, reaches, other, colours[other].pop())
            self._join(first.inner, first.node, item)
        return user, item, decisive

    def _add_first_half(self, user: int, reaches: EdgeType, inner: str, colour: int) -> "_HalfPath":
        reached, node = self.builder.add_node("item"), self._inner_node(inner, colour)
        edges = [self.builder.add_edge(reaches, user, reached), self._join(inner, node, reached)]
        return _HalfPath(inner, node, edges)

    def _cut(self, first: "_HalfPath", item: int, colour: int) -> None:
        """Let the path end in another item, and the pair's item begin one of another colour."""
        second = self._inner_node(first.inner, colour)
        self._join(first.inner, first.node, self.builder.add_node("item"))
        self._join(first.inner, second, self.builder.add_node("item"))
        self._join(first.inner, second, item)

    def _join(self, inner: str, node: int, item: int) -> tuple[EdgeType, int]:
        return self.builder.add_edge(JOINS[inner], node, item)

    def _inner_node(self, inner: str, colour: int) -> int:
        """Return a new node, or sometimes one that lies on a path of one other pair."""
        unshared = self.unshared.setdefault((inner, colour), [])
        if unshared and self.rng.rand() < SHARED:
            return unshared.pop(self.rng.randint(len(unshared)))
        node = self.builder.add_node(inner)
        self.colours[inner].append(colour)
        unshared.append(node)
        return node


class _HalfPath(NamedTuple):
    """The part of a path from a user to an inner node."""

    inner: str
    node: int
    edges: Edges
