"""Train a network on a data set: seeded, reproducible, with early stopping."""

import copy
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import torch
from rich.console import Console
from rich.progress import Progress
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from eigsearch._utils.name_lookup import resolve
from eigsearch.datasets import GraphDataset
from eigsearch.errors import InputError
from eigsearch.models.checks import check_trainable
from eigsearch.models.evaluation import Accuracy, accuracies, batch_scores, evaluate
from eigsearch.models.networks import build_network, networks_for, type_names
from eigsearch.models.splits import Split, split
from eigsearch.models.training_recipes import Recipe, recipe_for


@dataclass(frozen=True)
class TrainResult:
    """A trained network in evaluation mode, and how it was obtained."""

    model: nn.Module
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
    conv = resolve("model", conv, networks_for(dataset))
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


def build(dataset: GraphDataset, recipe: Recipe) -> nn.Module:
    """Return the untrained network that the recipe describes."""
    sizes = (dataset.num_features, dataset.num_classes, recipe.width)
    return build_network(recipe.conv, *sizes, dataset.task, *type_names(dataset))


def _check_counts(**counts: int) -> None:
    for name, count in counts.items():
        if count < 1:
            raise InputError(
                f"Expected `{name}` of a recipe to be at least 1 (got {count}). "
                "Leave it out for the default."
            )


def _fit(
    model: nn.Module, dataset: GraphDataset, parts: Split, recipe: Recipe, progress: bool
) -> tuple[int, int]:
    """Leave the best epoch's weights in the model; return that epoch and the number of epochs."""
    if not list(model.parameters()):
        return 0, 0  # a formula has nothing to learn
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
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    dataset: GraphDataset,
    part: Tensor,
    size: int,
) -> None:
    model.train()
    for scores, y in batch_scores(model, dataset, part[torch.randperm(len(part))], size):
        optimizer.zero_grad()
        cross_entropy(scores, y).backward()
        optimizer.step()


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
