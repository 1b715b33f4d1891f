"""The card of a trained network: what it was trained on, how, and how well it does."""

import json
import platform
from dataclasses import asdict, dataclass, fields
from importlib.metadata import version
from pathlib import Path

from eigsearch.datasets import GraphDataset
from eigsearch.datasets.dataset import Task
from eigsearch.errors import InputError
from eigsearch.models.recipes import Recipe
from eigsearch.models.training import Accuracy, TrainResult

# Test accuracy in the table "Statistics of the datasets" of Lu et al., EiG-Search, ICML 2024.
PAPER_ACCURACY = {
    ("BA-2Motifs", "gcn"): 1.00,
    ("BA-2Motifs", "gin"): 1.00,
    ("BA-Community", "gin"): 0.95,
    ("BA-Shapes", "gin"): 0.97,
    ("MUTAG", "gcn"): 0.95,
    ("Mutagenicity", "gcn"): 0.82,
    ("Mutagenicity", "gin"): 0.89,
    ("NCI1", "gin"): 0.83,
    ("Tree-Grid", "gin"): 0.97,
}


@dataclass(frozen=True)
class Card:
    """A trained network in words and figures; the JSON file beside its weights."""

    dataset: str
    provenance: str
    data_sha256: str
    task: Task
    num_features: int
    num_classes: int
    recipe: Recipe
    best_epoch: int
    epochs: int
    seconds: float
    accuracy: Accuracy
    paper_test_accuracy: float | None
    published_accuracy: float | None
    versions: dict[str, str]
    command: str

    def save(self, path: Path) -> None:
        """Write the card as JSON."""
        path.write_text(json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n", "utf-8")


def make_card(
    result: TrainResult, dataset: GraphDataset, published_accuracy: float | None = None
) -> Card:
    """Return the card of a finished training.

    `published_accuracy` is the network's accuracy on the whole published file of a synthetic set,
    none of which it was trained on.
    """
    recipe = result.recipe
    return Card(
        dataset=dataset.name,
        provenance=dataset.provenance,
        data_sha256=dataset.digest,
        task=dataset.task,
        num_features=dataset.num_features,
        num_classes=dataset.num_classes,
        recipe=recipe,
        best_epoch=result.best_epoch,
        epochs=result.epochs,
        seconds=round(result.seconds, 1),
        accuracy=result.accuracy,
        paper_test_accuracy=PAPER_ACCURACY.get((dataset.name, recipe.conv)),
        published_accuracy=published_accuracy,
        versions=_versions(),
        command=f"eigsearch train --dataset {dataset.name} --model {recipe.conv}",
    )


def read_card(path: Path) -> Card:
    """Return the card in a JSON file."""
    try:
        values = json.loads(path.read_text("utf-8"))
        values["recipe"] = Recipe(**values["recipe"])
        values["accuracy"] = Accuracy(**values["accuracy"])
        return Card(**values)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise InputError(
            f"Expected {path} to be the card of a trained network, with the fields "
            f"{', '.join(field.name for field in fields(Card))} (got: {error}). "
            "Write it with `eigsearch.models.save`."
        ) from error


def _versions() -> dict[str, str]:
    packages = ("torch", "torch_geometric", "numpy")
    return {"python": platform.python_version()} | {name: version(name) for name in packages}
