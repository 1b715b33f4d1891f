"""Find the subgraphs that recur in the explanations of a data set.

Pieces are first grouped by Weisfeiler-Lehman hash and by the labels of their edges; isomorphism is
checked exactly only within such a class. Every exact check counts its steps: a symmetric piece
without labels can take exponentially many, so that a limit per check and one per page end it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import networkx as nx

from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.visualization.elements import formula, is_element
from eigsearch.visualization.graph_drawing import Drawing
from eigsearch.visualization.matching import Matcher

MOST_MOTIFS = 24
_MOST_COMPARED = 40  # edges up to which isomorphism is checked exactly and not by hash alone
_MOST_SOUGHT = 10  # edges up to which a piece is searched inside others: time grows with 2^edges
LIMIT_NOTE = (
    "Counts may be too low: some explanations are too large and too symmetric to be searched."
)


class Piece:
    """A connected piece of one chosen subgraph.

    Attributes:
        item: Index of the explanation.
        graph: The piece; nodes have the attribute `label`, their kind.
        links: Indices of its links in the drawing of the explanation.
    """

    def __init__(self, item: int, graph: nx.Graph, links: tuple[int, ...]) -> None:
        self.item, self.graph, self.links = item, graph, links

    @cached_property
    def code(self) -> str:
        """The Weisfeiler-Lehman hash; isomorphic pieces have the same."""
        return nx.weisfeiler_lehman_graph_hash(self.graph, node_attr="ascii", iterations=3)

    @cached_property
    def edges(self) -> Counter[tuple[str, str]]:
        """Number of edges between each pair of labels."""
        labels = self.graph.nodes(data="label")
        return Counter(tuple(sorted((labels[u], labels[v]))) for u, v in self.graph.edges)

    def equals(self, other: Piece, matcher: Matcher) -> bool:
        """Return whether two pieces are isomorphic.

        Equal hashes decide for large pieces, and where the exact check reaches its limit.
        """
        if self.code != other.code or self.edges != other.edges:
            return False
        return self.graph.size() > _MOST_COMPARED or matcher.isomorphic(self.graph, other.graph)

    def contains(self, other: Piece, matcher: Matcher) -> bool:
        """Return whether another piece is a subgraph; a large one has to equal this one."""
        if not other.edges <= self.edges:
            return False
        if other.graph.size() > _MOST_SOUGHT:
            return self.equals(other, matcher)
        return matcher.contains(self.graph, other.graph)


@dataclass(frozen=True, eq=False)
class Motif:
    """A recurring subgraph.

    Attributes:
        name: Formula of a group of atoms, or a description of the shape.
        piece: Its first occurrence.
        items: Indices of the explanations that contain it, alone or inside a larger piece.
    """

    name: str
    piece: Piece
    items: tuple[int, ...]


def pieces_of(item: int, explanation: SubgraphExplanation, drawing: Drawing) -> list[Piece]:
    """Return the connected pieces of a chosen subgraph, labelled where the nodes have kinds.

    Bond orders are no labels: the two N–O bonds of a nitro group are drawn differently and equal.
    """
    kept = [i for i, ln in enumerate(drawing.links) if ln.group >= 0 and explanation.keep[ln.group]]
    graph = nx.Graph()
    graph.add_edges_from(drawing.links[i][:2] for i in kept)
    for node, kind in ((node, drawing.kinds[node]) for node in graph):
        graph.add_node(node, label=kind, ascii=ascii(kind))  # networkx hashes nothing else
    return [
        Piece(item, graph.subgraph(part).copy(), _inside(drawing, kept, part))
        for part in nx.connected_components(graph)
    ]


def find_motifs(
    pieces: Sequence[Piece], target: Sequence[int], matcher: Matcher | None = None
) -> list[Motif]:
    """Return the most frequent pieces of at least two edges as motifs.

    Motifs come first whose share differs most between the explained classes.

    Args:
        pieces: Connected pieces of all explanations.
        target: Explained class of each explanation.
        matcher: Exact matching with a limit; its `limited` tells whether counts may be too low.
    """
    matcher = matcher or Matcher()
    kinds = _kinds([piece for piece in pieces if piece.graph.size() > 1], matcher)
    motifs = [_motif(kind, pieces, matcher) for kind in kinds[:MOST_MOTIFS]]
    total = Counter(target)
    return sorted(motifs, key=lambda motif: (-_contrast(motif, target, total), -len(motif.items)))


def _inside(drawing: Drawing, kept: Sequence[int], part: set[int]) -> tuple[int, ...]:
    return tuple(i for i in kept if drawing.links[i].start in part)


def _kinds(pieces: Sequence[Piece], matcher: Matcher) -> list[list[Piece]]:
    """Return the pieces grouped by isomorphism, the most frequent kind first."""
    buckets: dict[str, list[list[Piece]]] = defaultdict(list)
    for piece in pieces:
        same = next((kind for kind in buckets[piece.code] if kind[0].equals(piece, matcher)), None)
        if same is None:
            buckets[piece.code].append([piece])
        else:
            same.append(piece)
    kinds = [kind for bucket in buckets.values() for kind in bucket]
    return sorted(kinds, key=lambda kind: -len({piece.item for piece in kind}))


def _motif(kind: Sequence[Piece], pieces: Sequence[Piece], matcher: Matcher) -> Motif:
    first, items = kind[0], {piece.item for piece in kind}
    for piece in pieces:
        if piece.item not in items and piece.contains(first, matcher):
            items.add(piece.item)
    return Motif(_name(first.graph), first, tuple(sorted(items)))


def _contrast(motif: Motif, target: Sequence[int], total: Counter[int]) -> float:
    """Return the difference between the largest and smallest class share of a motif."""
    held = Counter(target[item] for item in motif.items)
    shares = [held[label] / count for label, count in total.items()]
    return max(shares) - min(shares)


def _name(graph: nx.Graph) -> str:
    labels = [label for _, label in graph.nodes(data="label")]
    if all(map(is_element, labels)):
        return formula(labels)
    if any(labels):
        return " ".join(f"{label} ×{count}" for label, count in sorted(Counter(labels).items()))
    return _shape(graph)


def _shape(graph: nx.Graph) -> str:
    nodes, edges = graph.order(), graph.size()
    degrees = sorted(degree for _, degree in graph.degree)
    if edges == nodes and degrees[0] == degrees[-1] == 2:
        return f"cycle of {nodes}"
    if edges == nodes - 1:
        kind = "path" if degrees[-1] == 2 else "star" if degrees[-1] == edges else "tree"
        return f"{kind} of {edges} edges"
    return f"{nodes} nodes, {edges} edges"
