"""List the motifs of the explanations so far, and the items that contain each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from eigsearch.app.session import Session
from eigsearch.visualization.explanation import explanation_item
from eigsearch.visualization.graph_drawing import draw
from eigsearch.visualization.matching import Matcher
from eigsearch.visualization.motifs import LIMIT_NOTE, Motif, Piece, find_motifs, pieces_of

_MOST_ITEMS = 1_000  # explanations searched: two seconds of molecules
_KEPT = 8  # lists that addresses may still name


@dataclass(frozen=True)
class MotifList:
    """Motifs of some items.

    Attributes:
        items: The searched items; `Motif.items` index them.
        motifs: What recurs in their explanations.
        note: A sentence if a limit was reached.
    """

    items: Sequence[int]
    motifs: Sequence[Motif]
    note: str

    def holders(self, number: int) -> list[int]:
        """Return the items whose explanation contains a motif."""
        if not 0 <= number < len(self.motifs):
            return []
        return [self.items[position] for position in self.motifs[number].items]


class MotifIndex:
    """Finds motifs on demand; the latest lists stay available by number."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._lists: dict[int, MotifList] = {}
        self._count = 0

    def search(self) -> tuple[int, MotifList]:
        """Return the motifs of the first explained items, with the number of the list."""
        session = self.session
        known = (session.table.known & ~session.table.failed).nonzero()[0][:_MOST_ITEMS].tolist()
        pieces: list[Piece] = []
        targets: list[int] = []
        items: list[int] = []
        for item in known:
            explanation = session.cached(item)
            if explanation is None:
                continue
            drawing = draw([explanation], session.names, positions=False)
            pieces += pieces_of(len(items), explanation, drawing)
            targets.append(explanation.target)
            items.append(item)
        matcher = Matcher()
        motifs = find_motifs(pieces, targets, matcher) if items else []
        found = MotifList(items, motifs, LIMIT_NOTE if matcher.limited else "")
        self._count += 1
        self._lists[self._count] = found
        self._lists.pop(self._count - _KEPT, None)
        return self._count, found

    def holders(self, name: str) -> list[int]:
        """Return the items of a motif that `motif_data` named; none for an unknown name."""
        numbers = [int(part) if part.isdecimal() else -1 for part in name[:40].split(".")]
        if len(numbers) != 2 or numbers[0] not in self._lists:
            return []
        return self._lists[numbers[0]].holders(numbers[1])


def motif_data(session: Session, number: int, found: MotifList) -> dict[str, Any]:
    """Return motifs as page data, each with the picture of its first occurrence."""
    return {
        "motifs": [
            {
                "id": f"{number}.{position}",
                "name": motif.name,
                "count": len(motif.items),
                "item": _picture(session, found.items[motif.piece.item]),
                "links": motif.piece.links,
            }
            for position, motif in enumerate(found.motifs[:12])
        ],
        "searched": len(found.items),
        "note": found.note,
    }


def _picture(session: Session, item: int) -> dict[str, Any] | None:
    explanation = session.cached(item)
    if explanation is None:
        return None
    return explanation_item(explanation, draw([explanation], session.names), session.names)
