"""Look up names leniently, and suggest similar ones for unknown names."""

import difflib
from collections.abc import Iterable

from eigsearch.errors import InputError


def resolve(kind: str, name: str, known: Iterable[str]) -> str:
    """Return the known name that equals `name` up to case, hyphens and spaces.

    >>> resolve("data set", "ba 2motifs", ["BA-2Motifs", "MUTAG"])
    'BA-2Motifs'
    """
    spelled = {_plain(candidate): candidate for candidate in known}
    if _plain(name) in spelled:
        return spelled[_plain(name)]
    close = [spelled[key] for key in difflib.get_close_matches(_plain(name), spelled, cutoff=0.5)]
    advice = f"Did you mean {' or '.join(close)}?" if close else "Choose one of these."
    raise InputError(
        f"Expected the {kind} to be one of {', '.join(spelled.values())} (got {name!r}). {advice}"
    )


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())
