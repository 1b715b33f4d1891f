"""The result: which edges to remove and to add, and what the model says then."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.explanation import SubgraphExplanation
from eigsearch.explanation.checks import unreadable
from eigsearch.explanation.sentence import decimals, output_name
from eigsearch.explanation.serialization import from_plain, read_json


@dataclass(frozen=True, eq=False, repr=False)
class FlipExplanation(SubgraphExplanation):
    """The smallest change of edges that was found to change a prediction.

    `keep` and `edge_mask` mark what is removed. All nodes stay, here and in `found`:
    `found.kept` is the value with these edges alone, `found.removed` that after the change.

    Attributes:
        added: The edges that are added, `[2, A]`.
        value_after: φ after the change: the probability of the class predicted before, or the
            regressed value.
        prediction_after: What the model predicts after the change.
        flipped: Whether a change was found.
    """

    added: Tensor = field(default_factory=lambda: torch.zeros(2, 0, dtype=torch.long))
    value_after: float = float("nan")
    prediction_after: int | float | None = None
    flipped: bool = False

    @property
    def removed(self) -> Tensor:
        """The edges that are removed, `[2, R]`."""
        return self.data.edge_index[:, self.edge_mask]

    @property
    def size(self) -> int:
        """The number of groups that are removed, and of edges that are added."""
        return int(self.keep.sum()) + self.added.size(1)

    def sentence(self) -> str:
        """Return what changes the prediction, in one sentence."""
        if not self.flipped:
            return self.note
        removed, added = int(self.keep.sum()), self.added.size(1)
        parts = [f"without {_edges(removed)}"] if removed else []
        parts += [f"with {_edges(added)} more"] if added else []
        output = output_name(self, f"class {self.target}")
        values = f"{output} = {decimals(self.value)}; {' and '.join(parts)} "
        if self.config.get("task") == "regression":
            return f"{values}{decimals(self.value_after)}."
        after = f"class {self.prediction_after}"
        return f"{values}{decimals(self.value_after)}, and the prediction is {after}."

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the features, as plain Python values."""
        return {
            **super().to_dict(),
            "added": self.added.tolist(),
            "value_after": self.value_after if self.flipped else None,
            "prediction_after": self.prediction_after,
            "flipped": self.flipped,
        }

    @staticmethod
    def from_dict(values: dict[str, Any], data: Data | None = None) -> FlipExplanation:
        """Return the explanation that `to_dict` described; `data` brings the features back."""
        fields = from_plain(values, data)
        try:
            added = torch.tensor(values["added"], dtype=torch.long).reshape(2, -1)
            after, flipped = values["value_after"], bool(values["flipped"])
            value = fields["value"] if after is None else float(after)
            prediction = values["prediction_after"]
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise unreadable("no counterfactual") from error
        return FlipExplanation(
            **fields,
            added=added,
            value_after=value,
            prediction_after=prediction,
            flipped=flipped,
        )

    @staticmethod
    def load(path: str | Path, data: Data | None = None) -> FlipExplanation:
        """Return the explanation that `save` wrote as JSON."""
        return FlipExplanation.from_dict(read_json(Path(path)), data)

    def __repr__(self) -> str:
        where = "" if self.node is None else f"node={self.node}, "
        return (
            f"FlipExplanation({where}flipped={self.flipped}, removed={int(self.keep.sum())}, "
            f"added={self.added.size(1)}, value={self.value:.3f}, "
            f"value_after={self.value_after:.3f})"
        )


def _edges(count: int) -> str:
    return "one edge" if count == 1 else f"{count} edges"
