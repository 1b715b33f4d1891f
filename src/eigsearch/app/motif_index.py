"""List the motifs of the explanations so far, and the items that contain each."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from eigsearch.app.session import Session
from eigsearch.errors import InputError
from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.visualization.explanation import explanation_item
from eigsearch.visualization.graph_drawing import draw
from eigsearch.visualization.matching import Matcher
from eigsearch.visualization.motifs import LIMIT_NOTE, Motif, Piece, find_motifs, pieces_of

_MOST_ITEMS = 1_000  # explanations in which motifs are found: two seconds of molecules
_MOST_SEARCHED = 20_000  # explanations that are searched for them
_AT_ONCE = 200  # of these in one request: half a second
_KEPT = 8  # lists that addresses may still name
_SHOWN = 12  # motifs of a list
_ONLY_FIRST = f"Only the first {_MOST_SEARCHED:,} explanations are searched."


@dataclass
class MotifList:
    """Motifs, and the items whose explanations contain them, as far as they were searched.

    Attributes:
        motifs: What recurs in the first explanations.
        pictured: The item that shows each motif.
        holders: The items that contain each motif.
        searched: The searched items.
        limited: Whether counts may be too low.
    """

    motifs: Sequence[Motif]
    pictured: Sequence[int]
    holders: list[list[int]]
    searched: set[int]
    limited: bool


class MotifIndex:
    """Finds motifs on demand; the latest lists stay available by number."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._lists: dict[int, MotifList] = {}
        self._count = 0
        self._lock = threading.Lock()  # two tabs may extend one list

    def search(self) -> tuple[int, MotifList]:
        """Return the motifs of the first explained items, with the number of the list."""
        pieces: list[Piece] = []
        targets: list[int] = []
        items: list[int] = []
        for item in self._known()[:_MOST_ITEMS]:
            explanation = self.session.cached(item)
            if explanation is None:
                continue
            pieces += self._pieces(len(items), explanation)
            targets.append(explanation.target)
            items.append(item)
        matcher = Matcher()
        motifs = find_motifs(pieces, targets, matcher)[:_SHOWN] if items else []
        found = MotifList(
            motifs,
            pictured=[items[motif.piece.item] for motif in motifs],
            holders=[[items[position] for position in motif.items] for motif in motifs],
            searched=set(items),
            limited=matcher.limited,
        )
        with self._lock:
            self._count += 1
            self._lists[self._count] = found
            self._lists.pop(self._count - _KEPT, None)
            return self._count, found

    def extend(self, number: int) -> MotifList:
        """Search some more explanations for the motifs of a list, and return it.

        Raises:
            InputError: If there is no such list.
        """
        with self._lock:
            if number not in self._lists:
                raise InputError(
                    "Expected a list of motifs that is known (got another). Close it and open it."
                )
            found, matcher = self._lists[number], Matcher()
            for item in self._rest(found)[:_AT_ONCE]:
                found.searched.add(item)
                explanation = self.session.cached(item)
                pieces = [] if explanation is None else self._pieces(0, explanation)
                for motif, holders in zip(found.motifs, found.holders, strict=True):
                    if any(piece.contains(motif.piece, matcher) for piece in pieces):
                        holders.append(item)
            found.limited |= matcher.limited
            return found

    def progress(self, number: int, found: MotifList) -> dict[str, Any]:
        """Return how far a list is, as page data."""
        known = len(self._known())
        notes = [LIMIT_NOTE] * found.limited + [_ONLY_FIRST] * (known > _MOST_SEARCHED)
        return {
            "list": number,
            "counts": [len(holders) for holders in found.holders],
            "searched": len(found.searched),
            "left": len(self._rest(found)) if found.motifs else 0,
            "note": " ".join(notes),
        }

    def holders(self, name: str) -> list[int]:
        """Return the items of a motif that `motif_data` named; none for an unknown name."""
        numbers = [int(part) if part.isdecimal() else -1 for part in name[:40].split(".")]
        if len(numbers) != 2 or numbers[0] not in self._lists:
            return []
        holders = self._lists[numbers[0]].holders
        return sorted(holders[numbers[1]]) if 0 <= numbers[1] < len(holders) else []

    def _known(self) -> list[int]:
        table = self.session.table
        return (table.known & ~table.failed).nonzero()[0].tolist()

    def _rest(self, found: MotifList) -> list[int]:
        return [item for item in self._known()[:_MOST_SEARCHED] if item not in found.searched]

    def _pieces(self, position: int, explanation: SubgraphExplanation) -> list[Piece]:
        drawing = draw([explanation], self.session.names, positions=False)
        return pieces_of(position, explanation, drawing)


def motif_data(session: Session, number: int, found: MotifList) -> list[dict[str, Any]]:
    """Return motifs as page data, each with the picture of its first occurrence."""
    return [
        {
            "id": f"{number}.{position}",
            "name": motif.name,
            "item": _picture(session, found.pictured[position]),
            "links": motif.piece.links,
        }
        for position, motif in enumerate(found.motifs)
    ]


def _picture(session: Session, item: int) -> dict[str, Any] | None:
    explanation = session.cached(item)
    if explanation is None:
        return None
    return explanation_item(explanation, draw([explanation], session.names), session.names)
