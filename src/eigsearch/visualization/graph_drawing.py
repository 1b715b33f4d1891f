"""Lay out an explained graph: node positions, labels and links."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.visualization.labels import Names
from eigsearch.visualization.layout import Positions, layout
from eigsearch.visualization.link_selection import MOST_LINKS, choose_links
from eigsearch.visualization.links import Link, added_links, links_of
from eigsearch.visualization.molecule import Molecule, Pair, coordinates, read_molecule, ring_sides

_MOST_NODES = 2 * MOST_LINKS  # as many as that many links can join
_NOTABLE = 0.05  # smallest share of the best score for which a link is drawn first


@dataclass(frozen=True, eq=False)
class Drawing:
    """A graph layout; a link is about 50 units long and y points down.

    Attributes:
        nodes: Index of each drawn node in the graph.
        positions: Coordinates of the drawn nodes, `[n, 2]`.
        labels: Text on each node.
        names: Name of each node in a list.
        kinds: Element or label name of each node, else empty.
        links: The drawn links; their ends index `nodes`.
        orders: The bond order of each link.
        sides: Side of each link for the second line of a double bond; 0 for both.
        molecule: Whether the graph is drawn as a molecule.
        types: The type of each node of a typed graph, as an index of `type_names`; else empty.
        type_names: The node types of a typed graph.
        hidden: Number of links that are not drawn.
    """

    nodes: tuple[int, ...]
    positions: Positions
    labels: tuple[str, ...]
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    links: tuple[Link, ...]
    orders: tuple[float, ...]
    sides: tuple[int, ...]
    molecule: bool
    hidden: int
    types: tuple[int, ...] = ()
    type_names: tuple[str, ...] = ()

    @property
    def groups(self) -> list[int]:
        """The groups with at least one drawn link."""
        return sorted({link.group for link in self.links} - {-1})


def draw(
    explanations: Sequence[SubgraphExplanation], names: Names, positions: bool = True
) -> Drawing:
    """Return one drawing for explanations of the same graph.

    Of a graph with too many links, only those around the chosen and highest-ranked ones are drawn.
    Without `positions`, which take most of the time, all nodes are at the origin.
    """
    first = explanations[0]
    every = links_of(first)
    links = choose_links(every, _chosen(explanations), _notable(explanations), first.flat_anchors)
    added = added_links(first)
    nodes = _drawn_nodes(first, links, complete=len(links) == len(every))
    nodes = sorted({*nodes, *(end for link in added for end in link[:2])})
    all_nodes = len(nodes) == first.flat.num_nodes
    molecule = read_molecule(first.data, names) if _may_be_molecule(first, all_nodes) else None
    index = {node: position for position, node in enumerate(nodes)}
    local = [link._replace(start=index[link.start], end=index[link.end]) for link in links]
    texts = _texts(first, nodes, names, molecule)
    drawing = _laid_out(nodes, local, molecule, texts, len(every), positions)
    drawing = _with_types(drawing, first)
    return _with_added(drawing, added, index) if added else drawing


def _with_types(drawing: Drawing, explanation: SubgraphExplanation) -> Drawing:
    """Return the drawing with the types of its nodes, if the graph has types."""
    schema = explanation.flat.schema
    if schema is None:
        return drawing
    types = [schema.node_types.index(schema.node_name(node)[0]) for node in drawing.nodes]
    return replace(drawing, types=tuple(types), type_names=schema.node_types)


def _with_added(drawing: Drawing, added: Sequence[Link], index: dict[int, int]) -> Drawing:
    """Return the drawing with links that the graph does not have, in the layout that it has."""
    new = [link._replace(start=index[link.start], end=index[link.end]) for link in added]
    return replace(
        drawing,
        links=(*drawing.links, *new),
        orders=(*drawing.orders, *[1.0] * len(new)),
        sides=(*drawing.sides, *[0] * len(new)),
    )


def redraw(
    base: Drawing,
    explanation: SubgraphExplanation,
    node_ids: Sequence[int],
    added_edges: Collection[tuple[int, ...]] = (),
) -> Drawing:
    """Return the drawing of an edited graph in the layout of the original one.

    All nodes of the original drawing stay. A link is drawn if both of its ends are, and, in a
    drawing that leaves links out, if it was drawn before or was added.

    Args:
        base: The drawing of the original graph.
        explanation: An explanation of the edited graph.
        node_ids: Index of each node of the edited graph in the original graph.
        added_edges: New edges: two nodes of the original graph, and a number for parallel ones.
    """
    index = {node: position for position, node in enumerate(base.nodes)}
    links = links_of(explanation)
    local = [
        link._replace(start=index[node_ids[link.start]], end=index[node_ids[link.end]])
        for link in links
        if node_ids[link.start] in index and node_ids[link.end] in index
    ]
    styles = {
        _pair(link): (order, side)
        for link, order, side in zip(base.links, base.orders, base.sides, strict=True)
    }
    if base.hidden:
        ends = {frozenset(edge[:2]) for edge in added_edges}
        new = {pair for pair in map(_pair, local) if {base.nodes[end] for end in pair} in ends}
        local = [link for link in local if _pair(link) in styles.keys() | new]
    drawn = [styles.get(_pair(link), (1.0, 0)) for link in local]
    return replace(
        base,
        links=tuple(local),
        orders=tuple(order for order, _ in drawn),
        sides=tuple(side for _, side in drawn),
        hidden=len(links) - len(local),
    )


def _pair(link: Link) -> Pair:
    return min(link[:2]), max(link[:2])


def _drawn_nodes(
    explanation: SubgraphExplanation, links: Sequence[Link], complete: bool
) -> list[int]:
    """Return the nodes to draw: all of a small graph, else the ends of the drawn links.

    A graph with far more nodes than links is not small: dots without a link would fill the page.

    Of a node's explanation only its neighbourhood is drawn, however large the graph is.
    """
    anchors = explanation.flat_anchors
    num_nodes = explanation.flat.num_nodes
    if complete and explanation.edges is None and not anchors and num_nodes <= _MOST_NODES:
        return list(range(num_nodes))
    return sorted({*anchors, *(end for link in links for end in link[:2])})


def _may_be_molecule(explanation: SubgraphExplanation, all_nodes: bool) -> bool:
    return all_nodes and explanation.edges is None and explanation.flat.schema is None


def _laid_out(
    nodes: Sequence[int],
    links: Sequence[Link],
    molecule: Molecule | None,
    texts: _Texts,
    num_links: int,
    with_positions: bool,
) -> Drawing:
    positions, sides = np.zeros((len(nodes), 2)), dict[Pair, int]()
    if with_positions:
        positions, sides = _place(len(nodes), links, molecule)
    pairs = [_pair(link) for link in links]
    return Drawing(
        nodes=tuple(nodes),
        positions=positions.round(),
        labels=tuple(texts.label),
        names=tuple(texts.name),
        kinds=tuple(texts.kind),
        links=tuple(links),
        orders=tuple(molecule.orders.get(pair, 1.0) if molecule else 1.0 for pair in pairs),
        sides=tuple(sides.get(pair, 0) for pair in pairs),
        molecule=molecule is not None,
        hidden=num_links - len(links),
    )


def _chosen(explanations: Sequence[SubgraphExplanation]) -> list[int]:
    ranked = [[g for g in ex.order.tolist() if bool(ex.keep[g])] for ex in explanations]
    return list(dict.fromkeys(group for groups in ranked for group in groups))


def _notable(explanations: Sequence[SubgraphExplanation]) -> list[int]:
    """Return the groups with at least 5 % of the best score, highest first."""
    notable: list[int] = []
    for ex in explanations:
        best = ex.score.abs().max() if ex.num_groups else 0.0
        notable += [g for g in ex.order.tolist() if ex.score[g].abs() >= _NOTABLE * best]
    return list(dict.fromkeys(notable))


def _place(
    count: int, links: Sequence[Link], molecule: Molecule | None
) -> tuple[Positions, dict[Pair, int]]:
    """Return the position of each node and the inner side of each ring bond."""
    positions = coordinates(molecule) if molecule else None
    if molecule is None or positions is None:
        return layout(count, [link[:2] for link in links]), {}
    return positions, ring_sides(molecule, positions)


class _Texts(NamedTuple):
    label: list[str]
    name: list[str]
    kind: list[str]


def _texts(
    explanation: SubgraphExplanation, nodes: list[int], names: Names, molecule: Molecule | None
) -> _Texts:
    """Return the label, list name and kind of each node."""
    if molecule:
        symbols = [molecule.symbols[node] for node in nodes]
        numbered = [f"{symbol}{node}" for symbol, node in zip(symbols, nodes, strict=True)]
        return _Texts([molecule.labels[node] for node in nodes], numbered, symbols)
    schema = explanation.flat.schema
    if schema is not None:
        typed = [schema.node_name(node) for node in nodes]
        full = [f"{kind} {number}" for kind, number in typed]
        return _Texts([str(number) for _, number in typed], full, [kind for kind, _ in typed])
    labels, no_kinds = names.labels(explanation.data), [""] * len(nodes)
    if labels is None:
        numbers = list(map(str, nodes))
        return _Texts(numbers, numbers, no_kinds)
    own = [labels[node] for node in nodes]
    if "node_label" not in explanation.data:  # node_names holds one name per node
        return _Texts(own, own, no_kinds)
    return _Texts(own, [f"{labels[node]} {node}" for node in nodes], own)
