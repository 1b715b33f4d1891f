"""Which part of the graph made the GNN say so? EiG-Search for PyTorch Geometric."""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from eigsearch._utils.moved_modules import MovedModules

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

sys.meta_path.append(MovedModules())  # last: a module that exists is never looked up there

if TYPE_CHECKING:
    from eigsearch.api import explain, explain_dataset
    from eigsearch.app.launch import studio
    from eigsearch.counterfactual.api import flip, flip_dataset
    from eigsearch.explanation import FailedExplanation, SubgraphExplanation
    from eigsearch.integrations.pyg import CounterfactualSearch, EiGSearch
    from eigsearch.options import Options
else:  # type checkers would assume that `__getattr__` provides every name

    def __getattr__(name: str) -> Any:
        """Import a public name or a submodule on first use.

        Torch takes seconds to import, and `eigsearch --help` should not wait for it.
        """
        if name in _HOMES:
            value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
            globals()[name] = value
            return value
        try:
            return import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":  # a package that it imports
                raise
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None

    def __dir__() -> list[str]:
        """Return all public names, those not yet imported included."""
        return sorted({*globals(), *__all__})
