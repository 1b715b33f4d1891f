"""Search for the changes that take one prediction to another one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.utils import is_undirected

from eigsearch.candidates import EvalCoroutine, RawOutputs
from eigsearch.counterfactual.explanation import FlipExplanation
from eigsearch.counterfactual.margin import Margin, make_margin
from eigsearch.counterfactual.options import FlipOptions
from eigsearch.counterfactual.search import SEARCHES, Flip, Space
from eigsearch.counterfactual.toggles import Toggles
from eigsearch.errors import InputError
from eigsearch.explanation.build import Provenance
from eigsearch.explanation.notes import holds_link
from eigsearch.inference.output_type import OutputType, resolve_target
from eigsearch.inference.prediction import PredictedInstance
from eigsearch.search import Curve
from eigsearch.tasks import level_of

_CELLS = 1 << 24  # the most entries of keep-rows in memory at once
_NOTHING = np.zeros((1, 0), np.int64)


@dataclass(frozen=True, eq=False)
class Question:
    """A prediction to change, and the toggles that may be used.

    Attributes:
        original: The instance as it is, with its prediction.
        toggles: What may be changed.
        options: The options of the counterfactual.
        output_type: The interpretation of outputs.
        provenance: The provenance of answers.
    """

    original: PredictedInstance
    toggles: Toggles
    options: FlipOptions
    output_type: OutputType
    provenance: Provenance

    def steps(self) -> EvalCoroutine[FlipExplanation]:
        """Search for the smallest changes; return the first, with the others beside it."""
        singles = self.toggles.grown(_NOTHING[0], np.arange(len(self.toggles)))
        asked = [self.toggles.candidates(_NOTHING), *([singles] if len(singles) else [])]
        full, *outputs = yield [RawOutputs(candidates) for candidates in asked]
        margin = make_margin(self.original.target, full, self.options.to)
        alone = self._margins(margin, outputs)
        space = Space(
            alone=alone,
            removes=self.toggles.removes,
            evaluate=partial(self._evaluate, margin),
            evaluate_grown=partial(self._evaluate_grown, margin),
            allows=self.toggles.allow,
            max_size=self.options.max_size,
            answers=self.options.answers,
        )
        flips = yield from SEARCHES[self.options.search](space)
        score = self._scores(float(margin(full)), alone)
        answers = yield from self._answers(flips, score)
        return replace(answers[0], others=tuple(answers[1:]))

    def _evaluate(self, margin: Margin, sets: np.ndarray) -> EvalCoroutine[np.ndarray]:
        """Return the margins after the toggles of each row."""
        outputs = yield from self._outputs(self._parts(sets))
        return self._margins(margin, outputs)

    def _evaluate_grown(
        self, margin: Margin, families: list[tuple[np.ndarray, np.ndarray]]
    ) -> EvalCoroutine[np.ndarray]:
        """Return the margins after the toggles of each family and each of its further ones."""
        outputs = yield [RawOutputs(self.toggles.grown(*family)) for family in families]
        return self._margins(margin, outputs)

    def _outputs(self, parts: Sequence[np.ndarray]) -> EvalCoroutine[list[Tensor]]:
        """Return the model's outputs after the toggles of each row, for arrays of rows."""
        return (yield [RawOutputs(self.toggles.candidates(part)) for part in parts])

    def _parts(self, sets: np.ndarray) -> list[np.ndarray]:
        """Return rows in parts that can be laid out together."""
        parts = 1 + len(sets) * self.toggles.instance.groups.count // _CELLS
        return [part for part in np.array_split(sets, parts) if len(part)]

    @staticmethod
    def _margins(margin: Margin, outputs: Sequence[Tensor]) -> np.ndarray:
        return margin(torch.cat(list(outputs))).cpu().numpy() if outputs else np.zeros(0)

    def _answers(
        self, flips: Sequence[Flip], score: Tensor
    ) -> EvalCoroutine[list[FlipExplanation]]:
        """Return an explanation for each set, or one that says that no set was found."""
        sets = [np.array(flip.toggles, np.int64) for flip in flips] or [_NOTHING[0]]
        asked = [part[None] for toggles in sets for part in (toggles, self._others(toggles))]
        outputs = yield from self._outputs(asked)
        phi = [self.original.target.phi(output).cpu() for output in outputs]
        if not flips:
            return [self._without_answer(score, *phi)]
        return [
            self._explanation(toggles, score, outputs[2 * i], phi[2 * i], phi[2 * i + 1])
            for i, toggles in enumerate(sets)
        ]

    def _others(self, toggles: np.ndarray) -> np.ndarray:
        """Return the toggles that leave no other edges than those that some toggles remove."""
        return np.setdiff1d(np.arange(self.toggles.removals), toggles)

    def _explanation(
        self, toggles: np.ndarray, score: Tensor, output: Tensor, phi: Tensor, alone: Tensor
    ) -> FlipExplanation:
        target = self.original.target
        _, prediction = resolve_target(self.output_type, output[0], target.index)
        added = self.toggles.added(toggles).to(self.original.data.edge_index.device)
        notes = [self._note_on_link(toggles), self._note_on_reverses(added)]
        notes += self.provenance.notes
        changed = {
            "added": added,
            "prediction_after": prediction,
            "value_after": float(target.value(phi)[0]),
            "flipped": True,
            "note": " ".join(filter(None, notes)),
        }
        return self._make(toggles, score, phi, alone, changed)

    def _note_on_link(self, toggles: np.ndarray) -> str:
        """Return a note if these toggles remove or add the link whose prediction changes."""
        if not holds_link(self.toggles.instance, self.toggles.mask(toggles)):
            return ""
        return (
            "Among the changed edges is the link itself; target_link='drop' looks for others only."
        )

    def _note_on_reverses(self, added: Tensor) -> str:
        """Return a note if new edges lead both ways in a graph where some edges lead one way."""
        if not (self.toggles.both and added.size(1)):
            return ""
        if is_undirected(self.original.source.edge_index):
            return ""
        return "Each new edge is added with its reverse; groups='directed' adds single ones."

    def _without_answer(self, score: Tensor, phi: Tensor, alone: Tensor) -> FlipExplanation:
        """Return the explanation that says that there is no answer."""
        kinds = "removed or added" if self.toggles.additions else "removed"
        most = self.options.max_size
        note = f"No set of at most {most} edges was found whose change flips the prediction"
        notes = [f"{note} ({len(self.toggles)} could be {kinds}).", *self.provenance.notes]
        value = float(self.original.target.value(phi)[0])
        changed = {"note": " ".join(notes), "value_after": value}
        return self._make(_NOTHING[0], score, phi, alone, changed)

    def _make(
        self,
        toggles: np.ndarray,
        score: Tensor,
        phi: Tensor,
        alone: Tensor,
        changed: dict[str, Any],
    ) -> FlipExplanation:
        original, target = self.original, self.original.target
        keep = self.toggles.mask(toggles)[: self.toggles.removals]
        found = Curve.of(target, original.phi_full, keep.sum()[None], alone, phi)
        return FlipExplanation(
            data=original.source,
            target=target.index,
            prediction=original.prediction,
            value=float(target.value(original.phi_full)),
            keep=keep,
            score=score,
            order=score.argsort(descending=True, stable=True),
            group=self.toggles.group,
            curve=Curve.empty(),
            found=found,
            edges=self.toggles.edges,
            engine=self.provenance.engine,
            config={
                **self.provenance.config,
                "task": target.task,
                "return_type": target.return_type,
            },
            additions=self.toggles.additions,
            **level_of(original.anchors).subject(original.named_anchors),
            **changed,
        )

    def _scores(self, full: float, alone: np.ndarray) -> Tensor:
        """Return by how much the removal of each group lowers the margin."""
        return torch.from_numpy(full - alone[: self.toggles.removals])


def check_target(original: PredictedInstance, target: int | None) -> None:
    """Raise InputError if another class than the predicted one is to change."""
    classes = original.target.task == "multiclass_classification"
    if classes and original.target.index != original.prediction:
        raise InputError(
            f"Expected `target` to be the predicted class, {original.prediction} (got {target}). "
            "Leave it out; `to` is the class that is wanted."
        )
