"""Surroundings: which part of a graph is drawn when it has too many links to be readable."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from eigsearch.visualization.links import Link

MOST_LINKS = 300  # a graph with more lines than this is a ball of wool
_DRAWN_LINKS = 120  # what is drawn of such a graph, if its explanation is not larger
_FAN_OUT = 8  # links that one node brings along; a hub would fill the picture alone


def choose_links(
    links: Sequence[Link], chosen: Iterable[int], notable: Iterable[int], node: int | None
) -> list[Link]:
    """Return the links to draw, in their order: all of them, or the part that matters.

    The part holds the links of the chosen groups, those of notable ones, and what surrounds them
    and the explained node, nearest first.
    """
    if len(links) <= MOST_LINKS:
        return list(links)
    of_group: dict[int, list[int]] = defaultdict(list)
    for position, link in enumerate(links):
        of_group[link.group].append(position)
    drawn = [p for group in chosen for p in of_group[group]][:MOST_LINKS]
    more = [p for group in notable for p in of_group[group]]
    drawn = list(dict.fromkeys(drawn + more))[: max(len(drawn), _DRAWN_LINKS)]
    around = _around(links, drawn, node, room=_DRAWN_LINKS - len(drawn))
    return [links[position] for position in sorted(drawn + around)]


def _around(links: Sequence[Link], drawn: Sequence[int], node: int | None, room: int) -> list[int]:
    """Return up to `room` more links, breadth first, a few for each node."""
    at_node: dict[int, list[int]] = defaultdict(list)
    for position, link in enumerate(links):
        at_node[link.start].append(position)
        at_node[link.end].append(position)
    frontier = [] if node is None else [node]
    frontier += [end for position in drawn for end in links[position][:2]]
    found: list[int] = []
    taken, seen = set(drawn), set(frontier)
    while frontier and len(found) < room:
        fresh = []
        for here in dict.fromkeys(frontier):
            few = [p for p in at_node[here] if p not in taken][:_FAN_OUT]
            taken.update(few)
            fresh += few
        found += fresh
        frontier = [end for p in fresh for end in links[p][:2] if end not in seen]
        seen.update(frontier)
    return found[: max(room, 0)]
