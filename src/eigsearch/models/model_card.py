"""The card of a trained network: data, recipe, accuracy, command."""

import json
import platform
from dataclasses import asdict, dataclass, fields, replace
from importlib.metadata import version
from pathlib import Path
from shlex import quote

from torch import nn

from eigsearch import datasets
from eigsearch._utils.atomic_files import write_atomic
from eigsearch.datasets import GraphDataset
from eigsearch.datasets.dataset import Task
from eigsearch.errors import InputError
from eigsearch.models.evaluation import Accuracy, evaluate
from eigsearch.models.networks import type_names
from eigsearch.models.training import TrainResult
from eigsearch.models.training_recipes import Recipe, recipe_for

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
class ModelCard:
    """A trained network in words and figures; the JSON file beside its weights.

    Attributes:
        dataset: The name of the data set.
        provenance: Where its graphs came from.
        data_sha256: The digest of the graphs.
        task: Whether the network predicts graphs, nodes or links.
        num_features: The width of its input; of a typed network, by node type.
        num_classes: The width of its output.
        recipe: How it was trained.
        best_epoch: The epoch that was kept.
        epochs: The number of epochs.
        seconds: The time that they took.
        accuracy: The share of right predictions in each part of the split.
        paper_test_accuracy: What the paper has for this pair of data set and layer.
        published_accuracy: The accuracy of a network that was trained on a generated set on the
            whole published file of that set, none of which it has seen.
        versions: The packages that it was trained with.
        command: What trains it again; empty where only Python can.
        edge_types: The edge types of a typed network, such as `user__buys__item`.
        target_type: The type of the nodes that it predicts, or those of the ends of links.
    """

    dataset: str
    provenance: str
    data_sha256: str
    task: Task
    num_features: int | dict[str, int]
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
    edge_types: list[str] | None = None
    target_type: str | None = None

    def save(self, path: Path) -> None:
        """Write the card as JSON."""
        values = asdict(self)
        if self.edge_types is None:
            del values["edge_types"], values["target_type"]
        text = json.dumps(values, indent=2, ensure_ascii=False) + "\n"
        write_atomic(path, text.encode())


def make_card(result: TrainResult, dataset: GraphDataset) -> ModelCard:
    """Return the card of a finished training."""
    recipe = result.recipe
    edge_types, target_type = type_names(dataset)
    return ModelCard(
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
        published_accuracy=_published_accuracy(result.model, dataset),
        versions=_versions(),
        command=_command(recipe, dataset),
        edge_types=edge_types,
        target_type=target_type,
    )


def read_card(path: Path) -> ModelCard:
    """Return the card in a JSON file."""
    try:
        values = json.loads(path.read_text("utf-8"))
        values["recipe"] = Recipe(**values["recipe"])
        values["accuracy"] = Accuracy(**values["accuracy"])
        return ModelCard(**values)
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise InputError(
            f"Expected {path} to be the card of a trained network, with the fields "
            f"{', '.join(field.name for field in fields(ModelCard))} (got: {error}). "
            "Write it with `eigsearch.models.save_model`."
        ) from error


def _published_accuracy(model: nn.Module, dataset: GraphDataset) -> float | None:
    """Return the accuracy on the file that the data root has for a generated set, or None."""
    if not _generated(dataset) or dataset.name not in datasets.names():
        return None
    published = datasets.load(dataset.name)
    return None if _generated(published) else evaluate(model, published)[0]


def _generated(dataset: GraphDataset) -> bool:
    return dataset.provenance.startswith("generated")


def _command(recipe: Recipe, dataset: GraphDataset) -> str:
    """Return the command that trains a network again, or nothing where only Python can."""
    usual, data = recipe_for(dataset.name, recipe.conv), _data_flag(dataset)
    same = replace(usual, seed=recipe.seed, max_epochs=recipe.max_epochs, remark=recipe.remark)
    if not data or recipe != same:
        return ""
    flags = [data, f"--model {recipe.conv}"]
    if recipe.seed != usual.seed:
        flags.append(f"--seed {recipe.seed}")
    if recipe.max_epochs != usual.max_epochs:
        flags.append(f"--epochs {recipe.max_epochs}")
    return " ".join(["eigsearch train", *flags])


def _data_flag(dataset: GraphDataset) -> str:
    """Return how the command line names the data, or nothing where it cannot."""
    if dataset.provenance.startswith("file "):
        return f"--data {quote(dataset.provenance.removeprefix('file '))}"
    other_seed = _generated(dataset) and dataset.provenance != "generated, seed 0"
    known = dataset.name in datasets.names() and not other_seed
    return f"--dataset {dataset.name}" if known else ""


def _versions() -> dict[str, str]:
    packages = ("torch", "torch_geometric", "numpy")
    return {"python": platform.python_version()} | {name: version(name) for name in packages}
