"""The fidelity curve: Fidelity+ and Fidelity− against size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from eigsearch._utils.tolerances import gain_rounding
from eigsearch.inference.target import Target


@dataclass(frozen=True, eq=False)
class Curve:
    """Fidelity against size: one entry for each size that was evaluated.

    Attributes:
        size: The number of groups kept.
        kept: φ of the subgraph alone, as a probability (or a regressed value).
        removed: φ of the graph without the subgraph.
        fidelity_plus: φ(G) − φ(G[E∖E_S]), its size for a regression; higher is better.
        fidelity_minus: φ(G) − φ(S), its size for a regression; lower is better.
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
        """Return one entry, or several, as a curve."""
        chosen = slice(entries, entries + 1) if isinstance(entries, int) else entries
        return Curve(**{name: column[chosen] for name, column in self.columns().items()})

    def columns(self) -> dict[str, Tensor]:
        """Return the columns by name; `from_columns` is the inverse."""
        return {name: getattr(self, name) for name in _COLUMNS}

    @staticmethod
    def from_columns(columns: Mapping[str, Sequence[float]]) -> Curve:
        """Return the curve with these columns of Python numbers."""
        dtypes = dict.fromkeys(_COLUMNS, torch.float64) | {"size": torch.long}
        return Curve(**{name: torch.tensor(columns[name], dtype=dtypes[name]) for name in dtypes})

    @staticmethod
    def of(
        target: Target, phi_full: Tensor, size: Tensor, phi_kept: Tensor, phi_removed: Tensor
    ) -> Curve:
        """Return the curve from φ of the graph, of each subgraph and of each complement."""
        phi = torch.cat([phi_kept.cpu(), phi_removed.cpu(), phi_full.reshape(1).cpu()])
        kept, removed, before = target.value(phi).split([size.numel(), size.numel(), 1])
        plus, minus = target.change(before, removed), target.change(before, kept)
        return Curve(size, kept, removed, plus, minus)

    @staticmethod
    def empty() -> Curve:
        """Return the curve of a graph without edges."""
        nothing = torch.zeros(0, dtype=torch.float64)
        return Curve(nothing.long(), nothing, nothing, nothing, nothing)


_COLUMNS = tuple(field.name for field in fields(Curve))
