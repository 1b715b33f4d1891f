"""Explain predictions of chemprop models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

from torch_geometric.data import Data

from eigsearch import api
from eigsearch.errors import InputError
from eigsearch.explanation import SubgraphExplanation
from eigsearch.integrations.chemprop.graphs import to_graphs
from eigsearch.integrations.chemprop.model import ChempropModel
from eigsearch.options import takes_options

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from eigsearch.options import OptionsDict

_OPTIONAL = ("v_d", "x_d")


@overload
def explain(model: Any, smiles: str, **options: Any) -> SubgraphExplanation: ...
@overload
def explain(model: Any, smiles: Sequence[Any], **options: Any) -> list[SubgraphExplanation]: ...


def explain(
    model: Any,
    smiles: str | Sequence[Any],
    *,
    column: int | None = None,
    target: int | None = None,
    featurizer: Any = None,
    **options: Any,
) -> SubgraphExplanation | list[SubgraphExplanation]:
    """Return the bonds that carry what a chemprop 2 model predicts for molecules.

    Candidates of all molecules share calls of the model. Each φ is what the model itself predicts
    for the molecule's graph without some of its bonds; features are those of the whole molecule.

    Args:
        model: A `chemprop.models.MPNN`, or the path of a file that `chemprop train` wrote.
        smiles: SMILES of one molecule; or a list of SMILES or `chemprop.data.MoleculeDatapoint`.
        column: The property to explain, for a model that predicts several.
        target: The class to explain; the predicted one by default.
        featurizer: The featurizer of the training run; by default chemprop's default.
        **options: The fields of `eigsearch.Options`.

    Returns:
        An explanation, or a list of them in the order of a list; `data.smiles` has the molecule.

    Raises:
        InputError: Text that is no molecule, or a column that the model does not have.
        MissingExtraError: chemprop is not installed: `pip install "eigsearch[chemprop]"`.
    """
    several = not isinstance(smiles, str)
    found = list(
        explain_dataset(
            model,
            smiles if several else [smiles],
            column=column,
            target=target,
            featurizer=featurizer,
            **options,
        )
    )
    return found if several else found[0]


@takes_options("task", "return_type", "arguments")
def explain_dataset(
    model: Any,
    smiles: Sequence[Any],
    *,
    column: int | None = None,
    target: int | Sequence[int] | None = None,
    featurizer: Any = None,
    progress: bool | None = False,
    **options: Unpack[OptionsDict],
) -> Iterator[SubgraphExplanation]:
    """Yield the explanation of each molecule, in order; see `explain` for the arguments."""
    wrapped = model if isinstance(model, ChempropModel) else ChempropModel(model, column)
    graphs = to_graphs(smiles, featurizer)
    _check_features(wrapped, graphs)
    return api.explain_dataset(
        wrapped,
        graphs,
        target=target,
        progress=progress,
        **{**_reading(wrapped, graphs), **options},
    )


def _reading(model: ChempropModel, graphs: Sequence[Data]) -> dict[str, Any]:
    """Return what is known about the model, so that nothing has to be found out by calls."""
    optional = [name for name in _OPTIONAL if graphs and name in graphs[0]]
    arguments = ("x", "edge_index", "edge_attr", "batch", *optional)
    return {"task": model.task, "return_type": model.return_type, "arguments": arguments}


def _check_features(model: ChempropModel, graphs: Sequence[Data]) -> None:
    """Raise InputError if molecules were featurized otherwise than for training."""
    hyper = model.mpnn.message_passing.hparams
    expected = {"x": hyper.get("d_v"), "edge_attr": hyper.get("d_e")}
    for name, width in expected.items():
        got = graphs[0][name].size(1) if graphs else width
        if width is not None and got != width:
            raise InputError(
                f"Expected {'atoms' if name == 'x' else 'bonds'} with {width} features, as the "
                f"model was trained on (got {got}). Pass the featurizer of the training run as "
                "featurizer=, and features of your own in a chemprop.data.MoleculeDatapoint."
            )
