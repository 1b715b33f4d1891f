"""How each network of the zoo is trained: one line per pair of data set and layer."""

from dataclasses import dataclass

NARROW = ("BA-2Motifs", "BA-Shapes")  # 32 wide in the paper; all others 64


@dataclass(frozen=True)
class Recipe:
    """Everything that decides the trained weights, besides the data."""

    dataset: str
    conv: str
    width: int = 64
    seed: int = 0
    learning_rate: float = 1e-3
    weight_decay: float = 0.0
    batch_size: int = 64
    max_epochs: int = 300
    patience: int = 60
    remark: str = ""


RECIPES = (
    Recipe("BA-2Motifs", "gin", width=32, max_epochs=100),
    Recipe("BA-2Motifs", "gcn", width=32, learning_rate=5e-3, max_epochs=300),
)


def recipe_for(dataset: str, conv: str) -> Recipe:
    """Return the zoo's recipe for the pair, or a plain one in the paper's width."""
    for recipe in RECIPES:
        if (recipe.dataset, recipe.conv) == (dataset, conv):
            return recipe
    return Recipe(dataset, conv, width=32 if dataset in NARROW else 64)
