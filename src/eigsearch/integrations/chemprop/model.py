"""A chemprop model with the signature of a PyG model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from eigsearch.errors import InputError, MissingExtraError, UnsupportedError

_ASK = "Pass a `chemprop.models.MPNN`, or the path of a checkpoint that `chemprop train` wrote."


@dataclass
class _MolGraphBatch:
    """What chemprop's layers read of a `BatchMolGraph`."""

    V: Tensor
    E: Tensor
    edge_index: Tensor
    rev_edge_index: Tensor
    batch: Tensor

    def __len__(self) -> int:
        return int(self.batch.max()) + 1


class ChempropModel(torch.nn.Module):
    """A chemprop 2 model that is called as PyG models are, on one of its properties.

    Attributes:
        mpnn: The chemprop model, unchanged.
        column: The property that is returned: one column, or the classes of a multiclass property.
        task: What it is: `"regression"`, `"binary_classification"` or
            `"multiclass_classification"`.
        return_type: `"probs"` for classes, `"raw"` for values in the units of the training data.
    """

    def __init__(self, model: Any, column: int | None = None) -> None:
        super().__init__()
        self.mpnn: Any = load(model)
        self.task = _task(self.mpnn)
        self.return_type = "raw" if self.task == "regression" else "probs"
        self.column = _checked_column(column, int(self.mpnn.n_tasks))

    def forward(
        self,
        x: Tensor,
        edge_index: Tensor,
        edge_attr: Tensor,
        batch: Tensor,
        v_d: Tensor | None = None,
        x_d: Tensor | None = None,
    ) -> Tensor:
        """Return what the model predicts for each molecule of a batch."""
        reverse = reverse_edges(edge_index, len(x))
        molecules = _MolGraphBatch(x, edge_attr, edge_index, reverse, batch)
        output = self.mpnn(molecules, v_d, x_d)
        if self.task == "multiclass_classification":
            return output[:, self.column]
        if output.dim() == 3:  # a mean or a probability, followed by how sure it is
            output = output[..., 0]
        return output[:, [self.column]]


def load(model: Any) -> Any:
    """Return a chemprop model, read from its file where a path is given.

    chemprop unpickles its files, which can run code: read only files that you trust.
    """
    try:
        from chemprop.models import MPNN, load_model
        from chemprop.models.multi import MulticomponentMPNN
    except ImportError as error:
        raise MissingExtraError("chemprop", "chemprop", "explain chemprop models") from error
    if isinstance(model, str | Path):
        if not Path(model).is_file():
            raise InputError(f"Expected the chemprop model to be a file (got {model}). {_ASK}")
        model = load_model(model, multicomponent=False)
    if isinstance(model, MulticomponentMPNN):
        raise UnsupportedError(
            "Expected a chemprop model of single molecules (got one of several components). "
            "Explain a model that was trained without --smiles-columns of several molecules."
        )
    if not isinstance(model, MPNN):
        raise InputError(f"Expected a model of chemprop 2 (got {type(model).__name__}). {_ASK}")
    return model


def reverse_edges(edge_index: Tensor, num_nodes: int) -> Tensor:
    """Return the number of the edge that runs the other way, for each directed edge.

    >>> reverse_edges(torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), 3)
    tensor([1, 0, 3, 2])
    """
    source, target = edge_index
    forwards, backwards = source * num_nodes + target, target * num_nodes + source
    ordered, order = forwards.sort()
    place = torch.searchsorted(ordered, backwards).clamp(max=max(len(ordered) - 1, 0))
    if not torch.equal(ordered[place], backwards):
        raise InputError(
            "Expected both directions of each bond to stay or go together (got one alone). "
            "Leave `groups` at 'auto' for chemprop models."
        )
    return order[place]


def _task(mpnn: Any) -> str:
    from chemprop.nn import predictors

    kinds = {
        "binary_classification": predictors.BinaryClassificationFFNBase,
        "multiclass_classification": predictors.MulticlassClassificationFFN,
        "regression": (predictors.RegressionFFN, predictors.SpectralFFN),
    }
    for task, classes in kinds.items():
        if isinstance(mpnn.predictor, classes):
            return task
    raise UnsupportedError(
        "Expected a chemprop predictor for regression, classification, multiclass or spectra "
        f"(got {type(mpnn.predictor).__name__}). Derive it from one of chemprop's classes."
    )


def _checked_column(column: int | None, count: int) -> int:
    if column is None and count > 1:
        raise InputError(
            f"Expected `column` to name one of the {count} properties that the model predicts "
            f"(got none). Pass a number from 0 to {count - 1}."
        )
    if column is not None and not 0 <= column < count:
        raise InputError(
            f"Expected `column` to be a property from 0 to {count - 1} (got {column}). "
            "Count the target columns of the training file from 0."
        )
    return column or 0
