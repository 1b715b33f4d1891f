"""The one list of explainers: the names that users type, and what each of them is."""

from __future__ import annotations

import inspect
from typing import Any

from eigsearch._utils.name_lookup import resolve
from eigsearch.errors import InputError
from eigsearch.explainers.base import Method
from eigsearch.explainers.baselines.random import Random
from eigsearch.explainers.decomposition.attention import Attention
from eigsearch.explainers.decomposition.degree import DEGREE
from eigsearch.explainers.games.gstarx import GStarX
from eigsearch.explainers.games.subgraphx import SubgraphX
from eigsearch.explainers.generators.rg_explainer import RGExplainer
from eigsearch.explainers.gradient.captum_methods import DeepLIFT, GuidedBackprop, InputXGradient
from eigsearch.explainers.gradient.grad import Grad
from eigsearch.explainers.gradient.gradcam import GradCAM
from eigsearch.explainers.gradient.integrated_gradients import IntegratedGradients
from eigsearch.explainers.gradient.saliency import Sensitivity
from eigsearch.explainers.learned_masks.gnn_explainer import GNNExplainer
from eigsearch.explainers.learned_masks.graphmask import GraphMask
from eigsearch.explainers.learned_masks.pg_explainer import PGExplainer
from eigsearch.explainers.learned_masks.rcexplainer import RCExplainer
from eigsearch.explainers.perturbation.eig_search import EiGSearchRanking
from eigsearch.explainers.perturbation.occlusion import Occlusion
from eigsearch.explainers.perturbation.pgm_explainer import PGMExplainer

METHODS: dict[str, type[Method]] = {
    "eig_search": EiGSearchRanking,
    "sa": Sensitivity,
    "grad": Grad,
    "gradcam": GradCAM,
    "ig": IntegratedGradients,
    "att": Attention,
    "gnnexplainer": GNNExplainer,
    "pgexplainer": PGExplainer,
    "pgm_explainer": PGMExplainer,
    "subgraphx": SubgraphX,
    "degree": DEGREE,
    "rg_explainer": RGExplainer,
    "rcexplainer": RCExplainer,
    "gstarx": GStarX,
    "graphmask": GraphMask,
    "input_x_gradient": InputXGradient,
    "guided_bp": GuidedBackprop,
    "deeplift": DeepLIFT,
    "occlusion": Occlusion,
    "random": Random,
}


def names() -> tuple[str, ...]:
    """Return the names that `get` knows."""
    return tuple(METHODS)


def get(name: str, **options: Any) -> Method:
    """Return an explainer by name, with the options of its constructor.

    >>> get("ig", steps=20).name
    'Integrated Gradients'
    """
    key = resolve("explainer", name, METHODS)
    known = inspect.signature(METHODS[key]).parameters
    for option in options:
        if option not in known:
            raise InputError(
                f"Expected the options of {key} to be among {', '.join(known) or 'none'} "
                f"(got {option!r}). Leave it out, or correct its name."
            )
    return METHODS[key](**options)


def table() -> list[dict[str, str]]:
    """Return one row per explainer, in words: what a user has to know before choosing.

    >>> table()[0]["explainer"]
    'eig_search'
    """
    return [_row(name, method) for name, method in METHODS.items()]


def _row(name: str, method: type[Method]) -> dict[str, str]:
    card = method.card
    return {
        "explainer": name,
        "name": card.name,
        "level": card.level,
        "tasks": ", ".join(card.tasks),
        "trains": "yes" if card.trains else "no",
        "needs": ", ".join(card.needs) or "predictions",
        "seeded": "yes" if card.seeded else "no",
        "citation": card.citation,
    }
