"""Which part of the graph made the GNN say so? EiG-Search for PyTorch Geometric."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = [
    "CounterfactualSearch",
    "EiGSearch",
    "FailedExplanation",
    "Options",
    "SubgraphExplanation",
    "explain",
    "explain_dataset",
    "flip",
    "flip_dataset",
    "studio",
]

_HOMES = {
    "CounterfactualSearch": "integrations.pyg",
    "EiGSearch": "integrations.pyg",
    "FailedExplanation": "explanation",
    "Options": "options",
    "SubgraphExplanation": "explanation",
    "explain": "api",
    "explain_dataset": "api",
    "flip": "counterfactual.api",
    "flip_dataset": "counterfactual.api",
    "studio": "app.launch",
}

if TYPE_CHECKING:
    from eigsearch.api import explain, explain_dataset
    from eigsearch.app.launch import studio
    from eigsearch.counterfactual.api import flip, flip_dataset
    from eigsearch.explanation import FailedExplanation, SubgraphExplanation
    from eigsearch.integrations.pyg import CounterfactualSearch, EiGSearch
    from eigsearch.options import Options
else:  # a type checker would take such a function for a promise that every name exists

    def __getattr__(name: str) -> Any:
        """Return what the package offers, or a module of it, when it is first asked for.

        Torch takes seconds to import, which nobody should wait for who asks the command for help.
        """
        if name in _HOMES:
            value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
            globals()[name] = value
            return value
        try:
            return import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":  # a package that the module needs
                raise
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None

    def __dir__() -> list[str]:
        """Return the names that there are, those not yet asked for included."""
        return sorted({*globals(), *__all__})
