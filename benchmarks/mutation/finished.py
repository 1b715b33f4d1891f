"""Verdicts of mutants, kept in a file so that a stopped run can go on."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

from benchmarks.mutation.mutants import Mutant


class Finished:
    """The verdict of each mutant that was tried on the present source of its module.

    Args:
        root: The root of the repository.
        file: Where verdicts are kept, one JSON list for each line; None keeps them in memory.
    """

    def __init__(self, root: Path, file: Path | None) -> None:
        self.root, self.file = root, file
        self._verdicts: dict[str, str] = {}
        if file is not None and file.is_file():
            self._verdicts = dict(json.loads(line) for line in file.read_text().splitlines())

    def __contains__(self, mutant: Mutant) -> bool:
        return self._key(mutant) in self._verdicts

    def __getitem__(self, mutant: Mutant) -> str:
        return self._verdicts[self._key(mutant)]

    def __len__(self) -> int:
        return len(self._verdicts)

    def add(self, mutant: Mutant, verdict: str) -> None:
        """Keep the verdict of a mutant."""
        self._verdicts[self._key(mutant)] = verdict
        if self.file is not None:
            with self.file.open("a") as file:
                file.write(json.dumps([self._key(mutant), verdict]) + "\n")

    def _key(self, mutant: Mutant) -> str:
        source = sha256((self.root / mutant.path).read_bytes()).hexdigest()[:12]
        return f"{mutant.path}:{mutant.start}:{mutant.end}:{mutant.text}:{source}"
