"""The fidelity curve: what each size of a subgraph keeps and what its removal loses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
import torch
from torch import Tensor

from eigsearch.inference.target import Target

GAIN_TOLERANCE = 1e-6  # relative; gains closer than rounding noise tie, the smaller size wins


def gain_rounding(kept: np.ndarray, removed: np.ndarray) -> float:
    """Return how far apart gains may be by rounding alone, given the values that they come from."""
    return GAIN_TOLERANCE * float(max(np.abs(each).max(initial=0.0) for each in (kept, removed)))


@dataclass(frozen=True, eq=False)
class Curve:
    """Fidelity against size: one entry for each size that was evaluated.

    Attributes:
        size: The number of groups kept.
        kept: φ of the subgraph alone, as a probability (or a regressed value).
        removed: φ of the graph without the subgraph.
        fidelity_plus: φ(G) − φ(G[E∖E_S]); higher is better.
        fidelity_minus: φ(G) − φ(S); lower is better.
    """

    size: Tensor
    kept: Tensor
    removed: Tensor
    fidelity_plus: Tensor
    fidelity_minus: Tensor

    @property
    def gain(self) -> Tensor:
        """Fidelity+ − Fidelity−, what a search maximises."""
        return self.fidelity_plus - self.fidelity_minus

    @property
    def best(self) -> int:
        """The position of the highest gain, the smallest size on a tie."""
        gain = self.fidelity_plus.numpy() - self.fidelity_minus.numpy()
        least = gain.max() - gain_rounding(self.kept.numpy(), self.removed.numpy())
        return int((gain >= least).argmax())

    def __len__(self) -> int:
        return self.size.numel()

    def __getitem__(self, entries: int | Tensor) -> Curve:
        """Return one entry, or several, as a curve of their own."""
        chosen = slice(entries, entries + 1) if isinstance(entries, int) else entries
        return Curve(**{name: column[chosen] for name, column in self.columns().items()})

    def columns(self) -> dict[str, Tensor]:
        """Return the columns by name; `from_columns` makes them a curve again."""
        return {name: getattr(self, name) for name in _COLUMNS}

    @staticmethod
    def from_columns(columns: Mapping[str, Sequence[float]]) -> Curve:
        """Return the curve with these columns of plain numbers, as they were read from a file."""
        kinds = dict.fromkeys(_COLUMNS, torch.float64) | {"size": torch.long}
        return Curve(**{name: torch.tensor(columns[name], dtype=kinds[name]) for name in kinds})

    @staticmethod
    def of(target: Target, whole: Tensor, size: Tensor, kept: Tensor, removed: Tensor) -> Curve:
        """Return the curve that belongs to φ of the graph, of each subgraph and of each rest."""
        value = target.value(torch.cat([kept.cpu(), removed.cpu(), whole.reshape(1).cpu()]))
        kept, removed, before = value.split([size.numel(), size.numel(), 1])
        plus, minus = target.change(before, removed), target.change(before, kept)
        return Curve(size, kept, removed, plus, minus)

    @staticmethod
    def empty() -> Curve:
        """Return the curve of a graph without edges."""
        nothing = torch.zeros(0, dtype=torch.float64)
        return Curve(nothing.long(), nothing, nothing, nothing, nothing)


_COLUMNS = tuple(field.name for field in fields(Curve))
