"""The result: edges to remove and to add, and the prediction after that."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.counterfactual.sentence import flip_sentence
from eigsearch.errors import UnsupportedError
from eigsearch.explanation import SubgraphExplanation
from eigsearch.explanation.checks import unreadable
from eigsearch.explanation.sentence import class_names
from eigsearch.explanation.serialization import from_plain, read_json
from eigsearch.search import Curve
from eigsearch.tasks import level_of

_WRONG = (KeyError, TypeError, ValueError, RuntimeError, AttributeError, IndexError)


@dataclass(frozen=True, eq=False, repr=False)
class FlipExplanation(SubgraphExplanation):
    """The smallest change of edges that was found to change a prediction.

    `keep` and `edge_mask` mark what is removed. All nodes stay, here and in `found`:
    `found.kept` is the value with these edges alone, `found.removed` that after the change. There
    is no curve: no other sizes were looked at.

    Attributes:
        added: The edges that are added, `[2, A]`, each once: where edges are removed with their
            reverse, that of a new one is added as well.
        value_after: φ after the change: the probability of the class predicted before, or the
            regressed value.
        prediction_after: What the model predicts after the change.
        flipped: Whether a change was found.
        additions: How many edges might have been added.
        others: Other answers, if several were asked for; they have none themselves.
    """

    added: Tensor = field(default_factory=lambda: torch.zeros(2, 0, dtype=torch.long))
    value_after: float = float("nan")
    prediction_after: int | float | None = None
    flipped: bool = False
    additions: int = 0
    others: tuple[FlipExplanation, ...] = ()

    def answers(self) -> list[FlipExplanation]:
        """Return all answers, smallest first; none if there is no change that flips."""
        return [replace(self, others=()), *self.others] if self.flipped else []

    @property
    def removed(self) -> Any:
        """The edges that are removed, `[2, R]`; a dict by edge type if the graph is typed."""
        mask = self.edge_mask
        if isinstance(mask, dict):
            return {kind: self.data[kind].edge_index[:, mask[kind]] for kind in mask}
        return self.data.edge_index[:, mask]

    @property
    def size(self) -> int:
        """The number of groups that are removed, and of edges that are added."""
        return int(self.keep.sum()) + self.added.size(1)

    def at(self, size: int) -> SubgraphExplanation:
        """Raise UnsupportedError: a counterfactual has one size, and its edges are no ranking's."""
        raise UnsupportedError(
            f"Expected an explanation by a ranking for `at` (got a counterfactual, and size "
            f"{size}). Ask flip() for other answers with answers=5, say."
        )

    def sentence(self) -> str:
        """Return what changes the prediction, in one sentence."""
        return flip_sentence(self, class_names(self), "edge")

    def summary(self) -> dict[str, Any]:
        """Return the numbers of the explanation, without graph and scores."""
        after = float("nan") if self.prediction_after is None else self.prediction_after
        return {
            **super().summary(),
            "flipped": self.flipped,
            "value_after": self.value_after,
            "prediction_after": after,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the features, as plain Python values."""
        return {**super().to_dict(), **self.change()}

    def change(self) -> dict[str, Any]:
        """Return the fields of the change as plain values; `from_change` inverts it."""
        return {
            **_after(self),
            "additions": self.additions,
            "others": [
                {
                    **_after(other),
                    "keep": other.keep.tolist(),
                    "found": {k: column[0].item() for k, column in other.found.columns().items()},
                }
                for other in self.others
            ],
        }

    @staticmethod
    def from_change(fields: dict[str, Any], change: dict[str, Any]) -> FlipExplanation:
        """Return the explanation from the common fields and the fields of the change.

        Raises:
            InputError: If the values describe no change.
        """
        try:
            others = tuple(
                FlipExplanation(**{**fields, **_other_fields(fields, other)})
                for other in change["others"]
            )
            return FlipExplanation(
                **fields,
                **_change_fields(fields, change),
                additions=int(change["additions"]),
                others=others,
            )
        except _WRONG as error:
            raise unreadable("no counterfactual") from error

    @staticmethod
    def from_dict(values: dict[str, Any], data: Data | None = None) -> FlipExplanation:
        """Return the explanation that `to_dict` described; `data` brings the features back."""
        return FlipExplanation.from_change(from_plain(values, data), values)

    @staticmethod
    def load(path: str | Path, data: Data | None = None) -> FlipExplanation:
        """Return the explanation that `save` wrote as JSON."""
        return FlipExplanation.from_dict(read_json(Path(path)), data)

    def __repr__(self) -> str:
        subject = level_of(self.anchors).subject(self.anchors)
        where = "".join(f"{name}={value}, " for name, value in subject.items())
        return (
            f"FlipExplanation({where}flipped={self.flipped}, removed={int(self.keep.sum())}, "
            f"added={self.added.size(1)}, value={self.value:.3f}, "
            f"value_after={self.value_after:.3f})"
        )


def _after(answer: FlipExplanation) -> dict[str, Any]:
    """Return the added edges and the prediction after the change."""
    return {
        "flipped": answer.flipped,
        "value_after": answer.value_after if answer.flipped else None,
        "prediction_after": answer.prediction_after,
        "added": answer.added.tolist(),
    }


def _change_fields(fields: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    after, prediction = change["value_after"], change["prediction_after"]
    classes = fields["config"].get("task") != "regression"
    return {
        "added": torch.tensor(change["added"], dtype=torch.long).reshape(2, -1),
        "value_after": fields["value"] if after is None else float(after),
        "prediction_after": int(prediction) if classes and prediction is not None else prediction,
        "flipped": bool(change["flipped"]),
    }


def _other_fields(fields: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    return {
        **_change_fields(fields, other),
        "keep": torch.tensor(other["keep"], dtype=torch.bool),
        "found": Curve.from_columns({name: [value] for name, value in other["found"].items()}),
    }
