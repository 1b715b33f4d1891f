"""The zoo: trained networks that ship with the package."""

from pathlib import Path
from typing import Any

from eigsearch._utils.name_lookup import resolve
from eigsearch.models.checkpoints import file_stem, load_model
from eigsearch.models.model_card import ModelCard

WEIGHTS = Path(__file__).parent / "weights"


def names() -> tuple[tuple[str, str], ...]:
    """Return the pairs of data set and layer that `load` knows."""
    stems = sorted(path.stem for path in WEIGHTS.glob("*.safetensors"))
    return tuple((dataset, conv) for dataset, _, conv in (stem.rpartition("-") for stem in stems))


def load(dataset: str, conv: str) -> tuple[Any, ModelCard]:
    """Return a trained network in evaluation mode, and its card.

    >>> model, card = load("BA-2Motifs", "gin")
    >>> card.accuracy.test
    1.0
    """
    datasets = dict.fromkeys(dataset for dataset, _ in names())
    dataset = resolve("data set of a zoo model", dataset, datasets)
    convs = [conv for other, conv in names() if other == dataset]
    conv = resolve(f"zoo model for {dataset}", conv, convs)
    return load_model(WEIGHTS / f"{file_stem(dataset, conv)}.safetensors")
