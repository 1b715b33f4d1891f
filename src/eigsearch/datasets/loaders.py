"""Sources of data sets: a file of the user, a generator, or a PyG download."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from torch_geometric.data import Data

Graphs = tuple[Data, ...]


class Source(Protocol):
    """Loads the graphs of one data set."""

    def read(self, root: Path | None) -> tuple[Graphs, str]:
        """Return the graphs and one phrase on where they came from."""


@dataclass(frozen=True)
class GeneratedSource:
    """A synthetic set, generated with seed 0."""

    generate: Callable[[int], Graphs]

    def read(self, root: Path | None) -> tuple[Graphs, str]:
        """Return the graphs and one phrase on where they came from."""
        return self.generated(seed=0)

    def generated(self, seed: int) -> tuple[Graphs, str]:
        """Return the graphs of a seed, even where there is a published file."""
        return self.generate(seed), f"generated, seed {seed}"


@dataclass(frozen=True)
class SyntheticSource(GeneratedSource):
    """A synthetic set that was published: its file where there is one, else generated.

    The published file wins because its figures compare with those in papers.
    """

    file: str
    read_file: Callable[[Path], Graphs]

    def read(self, root: Path | None) -> tuple[Graphs, str]:
        """Return the graphs and one phrase on where they came from."""
        if root is not None and (root / self.file).is_file():
            return self.read_file(root / self.file), f"published file {self.file}"
        return self.generated(seed=0)
