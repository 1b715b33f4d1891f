"""A hash of a source that is too large to be read for it."""

from __future__ import annotations

from eigsearch._utils.fingerprint import digest_of
from eigsearch.parallel.sources.base import Source

_SAMPLES = 64


def sampled_digest(source: Source) -> str:
    """Return the hash of how many graphs there are and of some of them, evenly spread."""
    count = len(source)
    places = sorted({count * sample // _SAMPLES for sample in range(_SAMPLES)} if count else set())
    return digest_of([{"count": count}, *(source[place].to_dict() for place in places)])
