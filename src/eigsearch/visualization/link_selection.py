"""Select the links to draw if a graph has too many of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from eigsearch.visualization.links import Link

MOST_LINKS = 300  # graphs with more links are drawn in part
_DRAWN_LINKS = 120  # links drawn of such a graph, unless its explanation is larger
_FAN_OUT = 8  # links followed per node; a hub would fill the picture


def choose_links(
    links: Sequence[Link], chosen: Iterable[int], notable: Iterable[int], nodes: Sequence[int]
) -> list[Link]:
    """Return the links to draw, in their order.

    Up to `MOST_LINKS` all of them; of more, the links of the chosen groups, of the notable groups,
    and those around them and the explained nodes, nearest first.
    """
    if len(links) <= MOST_LINKS:
        return list(links)
    of_group: dict[int, list[int]] = defaultdict(list)
    for position, link in enumerate(links):
        of_group[link.group].append(position)
    drawn = [p for group in chosen for p in of_group[group]][:MOST_LINKS]
    further = [p for group in notable for p in of_group[group]]
    drawn = list(dict.fromkeys(drawn + further))[: max(len(drawn), _DRAWN_LINKS)]
    surrounding = _surrounding(links, drawn, nodes, room=_DRAWN_LINKS - len(drawn))
    return [links[position] for position in sorted(drawn + surrounding)]


def _surrounding(
    links: Sequence[Link], drawn: Sequence[int], nodes: Sequence[int], room: int
) -> list[int]:
    """Return up to `room` more links, breadth first, a few for each node."""
    at_node: dict[int, list[int]] = defaultdict(list)
    for position, link in enumerate(links):
        at_node[link.start].append(position)
        at_node[link.end].append(position)
    frontier = list(nodes)
    frontier += [end for position in drawn for end in links[position][:2]]
    found: list[int] = []
    taken, seen = set(drawn), set(frontier)
    while frontier and len(found) < room:
        added = []
        for end in dict.fromkeys(frontier):
            followed = [p for p in at_node[end] if p not in taken][:_FAN_OUT]
            taken.update(followed)
            added += followed
        found += added
        frontier = [end for p in added for end in links[p][:2] if end not in seen]
        seen.update(frontier)
    return found[: max(room, 0)]
