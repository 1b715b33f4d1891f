"""Trains a network on a data set: seeded, stopped early on the validation part, reproducible."""

import copy
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import torch
from rich.console import Console
from rich.progress import Progress
from torch import Tensor
from torch.nn.functional import cross_entropy

from eigsearch._utils.name_lookup import resolve
from eigsearch.datasets import GraphDataset
from eigsearch.errors import InputError
from eigsearch.models.batches import Minibatch, minibatches
from eigsearch.models.checks import check_trainable
from eigsearch.models.gnn import CONVS, GNN
from eigsearch.models.splits import Split, split
from eigsearch.models.training_recipes import Recipe, recipe_for


@dataclass(frozen=True)
class Accuracy:
    """The share of right predictions in each part of the split."""

    train: float
    val: float
    test: float


@dataclass(frozen=True)
class TrainResult:
    """A trained network in evaluation mode, and how it was obtained."""

    model: GNN
    recipe: Recipe
    accuracy: Accuracy
    best_epoch: int
    epochs: int
    seconds: float


def train(
    dataset: GraphDataset, conv: str, recipe: Recipe | None = None, progress: bool = True
) -> TrainResult:
    """Return a network trained on the data set; the same call gives the same weights again.

    Without a `recipe` it is trained as the zoo's network of that name was. The epoch with the best
    validation accuracy is kept (the lower loss decides between equals), and training stops when
    `recipe.patience` epochs bring none better. The caller's random state is left as it was.
    """
    check_trainable(dataset)
    conv = resolve("model", conv, CONVS)
    recipe = replace(recipe or recipe_for(dataset.name, conv), conv=conv)
    _check_counts(width=recipe.width, batch_size=recipe.batch_size, max_epochs=recipe.max_epochs)
    parts = split(dataset, recipe.seed)
    start = time.perf_counter()
    with _reproducible(recipe.seed):
        model = build(dataset, recipe)
        best_epoch, epochs = _fit(model, dataset, parts, recipe, progress)
    return TrainResult(
        model=model.eval(),
        recipe=recipe,
        accuracy=accuracies(model, dataset, parts),
        best_epoch=best_epoch,
        epochs=epochs,
        seconds=time.perf_counter() - start,
    )


def build(dataset: GraphDataset, recipe: Recipe) -> GNN:
    """Return the untrained network that the recipe describes."""
    return GNN(
        recipe.conv, dataset.num_features, dataset.num_classes, recipe.width, task=dataset.task
    )


def accuracies(model: GNN, dataset: GraphDataset, parts: Split) -> Accuracy:
    """Return the model's accuracy on each part of the split."""
    return Accuracy(
        train=evaluate(model, dataset, parts.train)[0],
        val=evaluate(model, dataset, parts.val)[0],
        test=evaluate(model, dataset, parts.test)[0],
    )


@torch.no_grad()
def evaluate(model: GNN, dataset: GraphDataset, part: Tensor | None = None) -> tuple[float, float]:
    """Return the accuracy and the mean loss on a part of the data set, by default on all of it."""
    if part is None:
        part = torch.arange(len(dataset) if dataset.task == "graph" else dataset[0].num_nodes)
    model.eval()
    right, loss = 0, 0.0
    for batch in minibatches(dataset, part, size=256):
        scores = _scores(model, batch)
        right += int((scores.argmax(-1) == batch.y).sum())
        loss += float(cross_entropy(scores, batch.y, reduction="sum"))
    return right / len(part), loss / len(part)


def _check_counts(**counts: int) -> None:
    for name, count in counts.items():
        if count < 1:
            raise InputError(
                f"Expected `{name}` of a recipe to be at least 1 (got {count}). "
                "Leave it out for the default."
            )


def _fit(
    model: GNN, dataset: GraphDataset, parts: Split, recipe: Recipe, progress: bool
) -> tuple[int, int]:
    """Leave the best epoch's weights in the model; return that epoch and the number of epochs."""
    optimizer = torch.optim.Adam(
        model.parameters(), lr=recipe.learning_rate, weight_decay=recipe.weight_decay
    )
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, recipe.max_epochs)
    best, best_epoch, best_weights = (-1.0, 0.0), 0, model.state_dict()
    for epoch in _epochs(recipe, progress):
        _train_epoch(model, optimizer, dataset, parts.train, recipe.batch_size)
        schedule.step()
        accuracy, loss = evaluate(model, dataset, parts.val)
        if (accuracy, -loss) > best:
            best, best_epoch = (accuracy, -loss), epoch
            best_weights = copy.deepcopy(model.state_dict())
        if epoch - best_epoch >= recipe.patience:
            break
    model.load_state_dict(best_weights)
    return best_epoch, epoch


def _train_epoch(
    model: GNN, optimizer: torch.optim.Optimizer, dataset: GraphDataset, part: Tensor, size: int
) -> None:
    model.train()
    for batch in minibatches(dataset, part[torch.randperm(len(part))], size):
        optimizer.zero_grad()
        cross_entropy(_scores(model, batch), batch.y).backward()
        optimizer.step()


def _scores(model: GNN, batch: Minibatch) -> Tensor:
    return model(batch.x, batch.edge_index, batch.batch)[batch.rows]


def _epochs(recipe: Recipe, progress: bool) -> Iterator[int]:
    """Yield the epochs from 1 on behind a progress bar, which shows in a terminal only."""
    console = Console(stderr=True)
    with Progress(
        console=console, transient=True, disable=not (progress and console.is_terminal)
    ) as bar:
        title = f"{recipe.dataset} {recipe.conv.upper()}"
        yield from bar.track(range(1, recipe.max_epochs + 1), description=title)


@contextmanager
def _reproducible(seed: int) -> Iterator[None]:
    """Seed torch for the block, on one thread: sums of several threads come in changing order."""
    threads = torch.get_num_threads()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)
