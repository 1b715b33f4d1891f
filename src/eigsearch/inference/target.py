"""The scalar φ: what a model's output row says about the class (or value) that is explained.

For classification φ is the log-odds of the class in float64, log p − log(1 − p). Log-odds order
candidates as probabilities do and still tell them apart where the probability is saturated;
`Target.value` turns them back into probabilities. For regression φ is the value itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from eigsearch.errors import ModelError

ReturnType = Literal["raw", "log_probs", "probs"]
Task = Literal["multiclass_classification", "binary_classification", "regression"]

_TINY = 1e-300  # keeps the logarithm of an underflown probability finite


@dataclass(frozen=True)
class Target:
    """What is explained: a class of a classifier, or an output of a regression.

    Attributes:
        task: The kind of output, in PyG's words.
        return_type: What the model returns: raw scores, log-probabilities or probabilities.
        index: The class; for a regression or several binary outputs, the output column.
    """

    task: Task
    return_type: ReturnType
    index: int

    def phi(self, output: Tensor) -> Tensor:
        """Return φ in float64 for each row of a model's output `[n, C]`."""
        output = output.double()
        if self.task == "regression":
            return output[:, self.index]
        if self.task == "binary_classification":
            return self._binary_log_odds(output)
        return self._multiclass_log_odds(output)

    def value(self, phi: Tensor) -> Tensor:
        """Return the probability of the class, or the regressed value, that φ stands for."""
        return phi if self.task == "regression" else torch.sigmoid(phi)

    def change(self, before: Tensor, after: Tensor) -> Tensor:
        """Return how much was lost between two values; a regression counts change both ways."""
        lost = before - after
        return lost.abs() if self.task == "regression" else lost

    def _binary_log_odds(self, output: Tensor) -> Tensor:
        single = output.size(1) == 1
        column = output[:, 0 if single else self.index]
        if self.return_type == "log_probs":
            column = column.exp()
        if self.return_type != "raw":
            column = torch.log(column.clamp_min(_TINY)) - torch.log((1 - column).clamp_min(_TINY))
        return -column if single and self.index == 0 else column

    def _multiclass_log_odds(self, output: Tensor) -> Tensor:
        if self.return_type == "probs":
            output = output.clamp_min(_TINY).log()
        others = torch.cat([output[:, : self.index], output[:, self.index + 1 :]], dim=1)
        return output[:, self.index] - torch.logsumexp(others, dim=1)


def phi_rows(targets: Sequence[Target], outputs: Sequence[Tensor]) -> list[Tensor]:
    """Return φ for the output rows of many requests; one calculation where their kind is one."""
    kinds = {(target.task, target.return_type) for target in targets}
    if len(kinds) != 1 or targets[0].task != "multiclass_classification":
        return [target.phi(output) for target, output in zip(targets, outputs, strict=True)]
    counts = torch.tensor([len(output) for output in outputs])
    index = torch.tensor([target.index for target in targets]).repeat_interleave(counts)[:, None]
    rows = torch.cat(list(outputs)).double()
    if targets[0].return_type == "probs":
        rows = rows.clamp_min(_TINY).log()
    index = index.to(rows.device)
    others = rows.scatter(1, index, -torch.inf).logsumexp(dim=1)
    return list((rows.gather(1, index).squeeze(1) - others).split(counts.tolist()))


def check_finite(output: Tensor) -> None:
    """Refuse model outputs that are not numbers."""
    if not bool(torch.isfinite(output).all()):
        raise ModelError(
            f"Expected finite model outputs (got {short_row(output.flatten().tolist())}). "
            "Check the weights and the scale of the features."
        )


def short_row(values: list[float]) -> str:
    """Return the first numbers of a row, for messages."""
    shown = ", ".join(f"{value:.4g}" for value in values[:4])
    return f"[{shown}, …]" if len(values) > 4 else f"[{shown}]"
