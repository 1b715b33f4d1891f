"""Motifs: the pieces that recur in the explanations of a data set."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import networkx as nx
from networkx.algorithms.isomorphism import GraphMatcher

from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.visualization.elements import formula, is_element
from eigsearch.visualization.graph_drawing import Drawing

MOST_MOTIFS = 24
_MOST_COMPARED = 40  # edges up to which isomorphism is checked exactly and not by hash alone
_MOST_SOUGHT = 10  # edges up to which a piece is sought inside others: the time grows with 2^edges


class Piece:
    """A connected piece of one chosen subgraph.

    Attributes:
        item: The number of the explanation.
        graph: The piece, its nodes labelled by kind.
        links: Its links in the drawing of the explanation.
    """

    def __init__(self, item: int, graph: nx.Graph, links: tuple[int, ...]) -> None:
        self.item, self.graph, self.links = item, graph, links

    @cached_property
    def code(self) -> str:
        """The Weisfeiler-Lehman hash, equal for equal pieces."""
        return nx.weisfeiler_lehman_graph_hash(self.graph, node_attr="ascii", iterations=3)

    @cached_property
    def edges(self) -> Counter[tuple[str, str]]:
        """How often each pair of labels is joined."""
        labels = self.graph.nodes(data="label")
        return Counter(tuple(sorted((labels[u], labels[v]))) for u, v in self.graph.edges)

    def equals(self, other: Piece) -> bool:
        """Tell whether two pieces are isomorphic; large ones are compared by hash alone."""
        if self.code != other.code or self.edges != other.edges:
            return False
        return self.graph.size() > _MOST_COMPARED or nx.vf2pp_is_isomorphic(
            self.graph, other.graph, node_label="label"
        )

    def contains(self, other: Piece) -> bool:
        """Tell whether another piece can be found inside this one; a large one has to equal it."""
        if not other.edges <= self.edges:
            return False
        if other.graph.size() > _MOST_SOUGHT:
            return self.equals(other)
        matcher = GraphMatcher(self.graph, other.graph, node_match=_same_label)
        return matcher.subgraph_is_monomorphic()


@dataclass(frozen=True, eq=False)
class Motif:
    """A piece that recurs.

    Attributes:
        name: A formula for a group of atoms, a few words for any other shape.
        piece: The piece, as it was first found.
        items: The explanations that contain it, alone or inside a larger piece.
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


def find_motifs(pieces: Sequence[Piece], target: Sequence[int]) -> list[Motif]:
    """Return the motifs among the pieces, those first that tell the explained classes best apart.

    A motif is one of the most frequent pieces of at least two edges. `target` is the explained
    class of each explanation.
    """
    kinds = _kinds([piece for piece in pieces if piece.graph.size() > 1])
    motifs = [_motif(kind[0], pieces) for kind in kinds[:MOST_MOTIFS]]
    total = Counter(target)
    return sorted(motifs, key=lambda motif: (-_spread(motif, target, total), -len(motif.items)))


def _inside(drawing: Drawing, kept: Sequence[int], part: set[int]) -> tuple[int, ...]:
    return tuple(i for i in kept if drawing.links[i].start in part)


def _kinds(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Return the pieces grouped by isomorphism, the most frequent kind first."""
    buckets: dict[str, list[list[Piece]]] = defaultdict(list)
    for piece in pieces:
        same = next((kind for kind in buckets[piece.code] if kind[0].equals(piece)), None)
        if same is None:
            buckets[piece.code].append([piece])
        else:
            same.append(piece)
    kinds = [kind for bucket in buckets.values() for kind in bucket]
    return sorted(kinds, key=lambda kind: -len({piece.item for piece in kind}))


def _motif(first: Piece, pieces: Sequence[Piece]) -> Motif:
    found: dict[int, None] = {}
    for piece in pieces:
        if piece.item not in found and piece.contains(first):
            found[piece.item] = None
    return Motif(_name(first.graph), first, tuple(found))


def _spread(motif: Motif, target: Sequence[int], total: Counter[int]) -> float:
    """Return by how much the shares of the classes that hold a motif differ."""
    held = Counter(target[item] for item in motif.items)
    shares = [held[each] / count for each, count in total.items()]
    return max(shares) - min(shares)


def _same_label(one: dict[str, str], other: dict[str, str]) -> bool:
    return one["label"] == other["label"]


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
