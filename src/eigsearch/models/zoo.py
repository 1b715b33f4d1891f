"""The zoo: trained networks that ship with the package, and replicas of them from other seeds."""

from pathlib import Path
from typing import Any

from eigsearch._utils.name_lookup import resolve
from eigsearch.errors import InputError
from eigsearch.models.checkpoints import file_stem, load_model
from eigsearch.models.model_card import ModelCard

WEIGHTS = Path(__file__).parent / "weights"


def names() -> tuple[tuple[str, str], ...]:
    """Return the pairs of data set and layer that `load` knows."""
    stems = sorted(path.stem for path in WEIGHTS.glob("*.safetensors"))
    return tuple((dataset, conv) for dataset, _, conv in (stem.rpartition("-") for stem in stems))


def load(dataset: str, conv: str, replica: int = 0) -> tuple[Any, ModelCard]:
    """Return a trained network in evaluation mode, and its card.

    Args:
        dataset: The data set by name.
        conv: The layer by name.
        replica: 0 for the network itself; 1, 2, … for the same recipe with the next seeds, which
            experiments average over.

    >>> model, card = load("BA-2Motifs", "gin")
    >>> card.accuracy.test
    1.0
    """
    return load_model(weights_path(dataset, conv, replica))


def count_replicas(dataset: str, conv: str) -> int:
    """Return how many networks of a pair there are, the first included."""
    stem = file_stem(dataset, conv)
    return 1 + len(list(WEIGHTS.glob(f"replica-*/{stem}.safetensors")))


def weights_path(dataset: str, conv: str, replica: int = 0) -> Path:
    """Return the file of a network.

    Raises:
        InputError: If there is none.
    """
    datasets = dict.fromkeys(dataset for dataset, _ in names())
    dataset = resolve("data set of a zoo model", dataset, datasets)
    convs = [conv for other, conv in names() if other == dataset]
    conv = resolve(f"zoo model for {dataset}", conv, convs)
    count = count_replicas(dataset, conv)
    if not 0 <= replica < count:
        raise InputError(
            f"Expected a replica from 0 to {count - 1} of {dataset} {conv} (got {replica}). "
            "Train others with `eigsearch train --seed`."
        )
    folder = WEIGHTS / f"replica-{replica}" if replica else WEIGHTS
    return folder / f"{file_stem(dataset, conv)}.safetensors"
