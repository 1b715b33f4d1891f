"""Turn the directed edges of a graph into the lines of a picture."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from eigsearch.counterfactual.explanation import FlipExplanation
from eigsearch.explanation.explanation import SubgraphExplanation


class Link(NamedTuple):
    """A line of a picture: both directions of an edge, or one with an arrow.

    Attributes:
        start: Source node.
        end: Target node.
        group: Group of the edge; -1 if it is never removed.
        arrow: Whether the line has a direction.
        bend: Sideways bend in steps, to separate links between the same two nodes.
        added: Whether the graph does not have it, and a counterfactual adds it.
        relation: What a typed graph calls it; "" in a graph without types.
        kind: The number of its edge type; -1 in a graph without types.
    """

    start: int
    end: int
    group: int
    arrow: bool = False
    bend: int = 0
    added: bool = False
    relation: str = ""
    kind: int = -1


def links_of(explanation: SubgraphExplanation) -> list[Link]:
    """Return the links of the edges that an explanation was chosen from, in edge order."""
    edge_index = explanation.evaluated_ends.cpu()
    links = _join_directions(edge_index, explanation.group.cpu())
    return bend_apart(_with_relations(links, explanation, edge_index))


def _with_relations(
    links: list[Link], explanation: SubgraphExplanation, edge_index: Tensor
) -> list[Link]:
    """Return the links with their relations, if the graph is typed.

    A line for both directions has the name and the ends of the one that is no reverse.
    """
    schema = explanation.flat.schema
    if schema is None:
        return links
    edges = explanation.edges
    positions = torch.arange(edge_index.size(1)) if edges is None else edges.cpu()
    ends = zip(*edge_index.tolist(), explanation.group.tolist(), strict=True)
    kinds = dict(zip(ends, schema.edge_kinds(positions).tolist(), strict=True))

    def named(link: Link) -> Link:
        both = [link, link._replace(start=link.end, end=link.start)]
        found = [(kinds[each[:3]], each) for each in both if each[:3] in kinds]
        relations = [schema.edge_types[kind][1] for kind, _ in found]
        chosen = min(range(len(found)), key=lambda i: relations[i].startswith("rev_"))
        return found[chosen][1]._replace(relation=relations[chosen], kind=found[chosen][0])

    return list(map(named, links))


def added_links(explanation: SubgraphExplanation) -> list[Link]:
    """Return the links that a counterfactual adds; none for any other explanation."""
    if not isinstance(explanation, FlipExplanation):
        return []
    return [Link(start, end, -1, added=True) for start, end in explanation.added.t().tolist()]


def _join_directions(edge_index: Tensor, group: Tensor) -> list[Link]:
    """Join each edge with its reverse in the same group; the rest become arrows."""
    columns = torch.stack([edge_index[0], edge_index[1], group]).tolist()
    copies = Counter(zip(*columns, strict=True))
    links: list[Link] = []
    for (start, end, owner), count in copies.items():
        back = copies.get((end, start, owner), 0)
        if start == end:
            links += [Link(start, end, owner)] * count
            continue
        if start < end or not back:
            links += [Link(start, end, owner)] * min(count, back)
        links += [Link(start, end, owner, arrow=True)] * (count - back)
    return links


def bend_apart(links: Sequence[Link]) -> list[Link]:
    """Return the links, parallel ones bent away from each other."""
    between: dict[tuple[int, int], list[int]] = defaultdict(list)
    for position, link in enumerate(links):
        between[min(link[:2]), max(link[:2])].append(position)
    bent = list(links)
    for positions in between.values():
        for parallel, position in enumerate(positions):
            bend = 2 * parallel - (len(positions) - 1)
            link = links[position]
            forward = link.start <= link.end  # a bend is seen from the lower node
            bent[position] = link._replace(bend=bend if forward else -bend)
    return bent
