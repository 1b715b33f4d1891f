"""Import modules of the first release under their old names, for one more release."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from types import ModuleType

_PREFIX = "eigsearch."
# Old names of packages, and of modules that hold what a public package of the first release offers.
_MOVED = {
    "datasets.files": "datasets.file_io",
    "explainers.attention": "explainers.decomposition.attention",
    "explainers.captum_methods": "explainers.gradient.captum_methods",
    "explainers.degree": "explainers.decomposition.degree",
    "explainers.gnn_explainer": "explainers.learned_masks.gnn_explainer",
    "explainers.grad": "explainers.gradient.grad",
    "explainers.gradcam": "explainers.gradient.gradcam",
    "explainers.graphmask": "explainers.learned_masks.graphmask",
    "explainers.gstarx": "explainers.games.gstarx",
    "explainers.integrated_gradients": "explainers.gradient.integrated_gradients",
    "explainers.linear_gradients": "explainers.perturbation.eig_search",
    "explainers.occlusion": "explainers.perturbation.occlusion",
    "explainers.pg_explainer": "explainers.learned_masks.pg_explainer",
    "explainers.pgm_explainer": "explainers.perturbation.pgm_explainer",
    "explainers.random_scores": "explainers.baselines.random",
    "explainers.rcexplainer": "explainers.learned_masks.rcexplainer",
    "explainers.rg_explainer": "explainers.generators.rg_explainer",
    "explainers.sensitivity": "explainers.gradient.saliency",
    "explainers.subgraphx": "explainers.games.subgraphx",
    "metrics.catalogue": "metrics.registry",
    "metrics.claim": "metrics.mask",
    "models.cards": "models.model_card",
    "models.recipes": "models.training_recipes",
    "models.saving": "models.checkpoints",
    "pyg": "integrations.pyg",
    "report": "visualization",
    "report.comparison": "visualization.comparison",
    "report.figure": "visualization.figure",
    "report.gallery": "visualization.gallery",
    "report.names": "visualization.labels",
    "report.single": "visualization.explanation",
    "verbs": "api",
    "work": "parallel",
    "work.backends": "parallel.backend",
    "work.explain_many": "parallel.run_in_order",
    "work.explain_to": "parallel.run_to_directory",
    "work.sources": "parallel.sources",
}


class MovedModules(MetaPathFinder, Loader):
    """Finds modules by their old names; importing one warns with the new name."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of an old name, None for any other."""
        if not name.startswith(_PREFIX) or name.removeprefix(_PREFIX) not in _MOVED:
            return None
        return spec_from_loader(name, self, is_package=True)

    def exec_module(self, module: ModuleType) -> None:
        """Fill a module that has an old name with the content of the new one."""
        old = module.__name__
        new = _PREFIX + _MOVED[old.removeprefix(_PREFIX)]
        content = vars(import_module(new))
        warnings.warn(f"{old} is now {new}.", DeprecationWarning, stacklevel=2)
        own = {name: value for name, value in content.items() if not name.startswith("__")}
        vars(module).update(own, __all__=content.get("__all__", sorted(own)))
