"""Explainers under one interface: `fit` if they train, `rank` to score edges or nodes.

`base` is the interface and `registry` the list of names; both are imported without any explainer.
Each explainer is a module, or a folder if it takes several, in the folder of its family:

- `perturbation`: remove or perturb parts of the graph;
- `gradient`: differentiate the prediction;
- `decomposition`: decompose the forward pass, or read attention;
- `games`: values of nodes or edges in cooperative games;
- `learned_masks`: masks on edges, optimised for one prediction or trained on a data set;
- `generators`: policies that grow a subgraph;
- `surrogate`: a simpler model fitted to the predictions;
- `baselines`: what every explainer should beat.

`common` holds what several explainers share.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from eigsearch.explainers.registry import built_in_classes, get, names, table

if TYPE_CHECKING:
    from eigsearch.explainers.base import SEVERAL_CLASSES as SEVERAL_CLASSES
    from eigsearch.explainers.base import Card as Card
    from eigsearch.explainers.base import Method as Method
    from eigsearch.explainers.base import ScoreType as ScoreType

_HOMES = {
    **dict.fromkeys(("SEVERAL_CLASSES", "Card", "Method", "ScoreType"), f"{__name__}.base"),
    **built_in_classes(),
}

__all__ = [*sorted(_HOMES), "get", "names", "table"]


def __getattr__(name: str) -> Any:
    """Import a class on first use: torch and an explainer's own needs take seconds."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the names of the package, those not yet imported included."""
    return sorted({*globals(), *__all__})
