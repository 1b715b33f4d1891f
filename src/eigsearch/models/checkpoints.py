"""Save a trained network as safetensors with its card as JSON, and load both."""

from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from eigsearch._utils.atomic_files import atomic_path
from eigsearch.errors import InputError
from eigsearch.models.model_card import ModelCard, read_card
from eigsearch.models.networks import build_network


def file_stem(dataset: str, conv: str) -> str:
    """Return the file name, without ending, of a trained network."""
    return f"{dataset}-{conv}"


def save_model(model: nn.Module, card: ModelCard, directory: str | Path) -> Path:
    """Write weights and card into the directory; return the path of the weights."""
    folder, stem = Path(directory), file_stem(card.dataset, card.recipe.conv)
    if Path(stem).name != stem:
        raise InputError(
            f"Expected the name of the data set to be usable as a file name (got "
            f"{card.dataset!r}). Rename it."
        )
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{stem}.safetensors"
    weights = {name: tensor.contiguous() for name, tensor in model.state_dict().items()}
    with atomic_path(path) as aside:
        save_file(weights, aside)
    card.save(path.with_suffix(".json"))
    return path


def load_model(path: str | Path) -> tuple[Any, ModelCard]:
    """Return the network of a `.safetensors` file in evaluation mode, and the card beside it."""
    path = Path(path)
    card = read_card(path.with_suffix(".json"))
    sizes = (card.num_features, card.num_classes, card.recipe.width)
    try:
        types = (card.edge_types, card.target_type)
        model = build_network(card.recipe.conv, *sizes, card.task, *types)
        model.load_state_dict(load_file(path))
    except (OSError, SafetensorError, RuntimeError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"Expected {path} to be the weights that its card describes (got: {error}). "
            "Train the network again, or take the card that belongs to the file."
        ) from error
    return model.eval(), card
