"""Registry of explainers: names that users type, resolved to classes on first use.

A new explainer is one module and one line in `_BUILT_IN`. A package of a third party registers its
own without a change here, by an entry point of the group `eigsearch.explainers`:

    [project.entry-points."eigsearch.explainers"]
    my_method = "my_package.my_module:MyMethod"
"""

from __future__ import annotations

import inspect
import warnings
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any

from eigsearch._utils.importing import import_named, is_import_name
from eigsearch._utils.name_lookup import resolve
from eigsearch.errors import InputError

if TYPE_CHECKING:
    from eigsearch.explainers.base import Method

GROUP = "eigsearch.explainers"

_BUILT_IN = {  # name → "module below eigsearch.explainers:class", in the order of listings
    "eig_search": "perturbation.eig_search:EiGSearchRanking",
    "output_norm": "perturbation.output_norm:OutputNormRanking",
    "sa": "gradient.saliency:Sensitivity",
    "grad": "gradient.grad:Grad",
    "gradcam": "gradient.gradcam:GradCAM",
    "ig": "gradient.integrated_gradients:IntegratedGradients",
    "att": "decomposition.attention:Attention",
    "gnnexplainer": "learned_masks.gnn_explainer:GNNExplainer",
    "pgexplainer": "learned_masks.pg_explainer:PGExplainer",
    "pgm_explainer": "perturbation.pgm_explainer:PGMExplainer",
    "subgraphx": "games.subgraphx:SubgraphX",
    "degree": "decomposition.degree:DEGREE",
    "rg_explainer": "generators.rg_explainer:RGExplainer",
    "rcexplainer": "learned_masks.rcexplainer:RCExplainer",
    "gstarx": "games.gstarx:GStarX",
    "graphmask": "learned_masks.graphmask:GraphMask",
    "input_x_gradient": "gradient.captum_methods:InputXGradient",
    "guided_bp": "gradient.captum_methods:GuidedBackprop",
    "deeplift": "gradient.captum_methods:DeepLIFT",
    "lrp": "decomposition.relevance.lrp:LRP",
    "gnn_lrp": "decomposition.relevance.gnn_lrp:GNNLRP",
    "excitation_bp": "decomposition.relevance.excitation_bp:ExcitationBP",
    "goat": "decomposition.goat:GOAt",
    "same": "games.same:SAME",
    "graphlime": "surrogate.graphlime:GraphLIME",
    "gem": "learned_masks.gem:Gem",
    "kfactexplainer": "learned_masks.k_fact_explainer:KFactExplainer",
    "motifexplainer": "learned_masks.motif_explainer:MotifExplainer",
    "gflowexplainer": "generators.gflow_explainer:GFlowExplainer",
    "dnx": "surrogate.dnx:DnX",
    "fastdnx": "surrogate.dnx:FastDnX",
    "relex": "surrogate.relex:RelEx",
    "geco": "perturbation.geco:GECo",
    "gnnshap": "games.gnnshap:GNNShap",
    "occlusion": "perturbation.occlusion:Occlusion",
    "random": "baselines.random:Random",
}


def names() -> tuple[str, ...]:
    """Return the names that `get` knows, without importing any explainer."""
    return tuple(_entries())


def method_class(name: str) -> type[Method]:
    """Return the class of an explainer, importing its module."""
    return _entries()[resolve("explainer", name, names())].load()


def get(name: str, **options: Any) -> Method:
    """Return an explainer by name, with the options of its constructor.

    Raises:
        InputError: If the name or an option is not known.

    `package.module:name` and `file.py:name` are explainers of your own: see
    `eigsearch.explainers.own.as_method` for what they may be.

    >>> get("ig", steps=20).name
    'Integrated Gradients'
    """
    if is_import_name(name):
        return _own(name, options)
    method = method_class(name)
    known = inspect.signature(method).parameters
    for option in options:
        if option not in known:
            key = resolve("explainer", name, names())
            raise InputError(
                f"Expected the options of {key} to be among {', '.join(known) or 'none'} "
                f"(got {option!r}). Leave it out, or correct its name."
            )
    return method(**options)


def resolve_name(name: str) -> str:
    """Return the name of an explainer as `names` has it, or that of one of the user's own.

    >>> resolve_name("Grad CAM"), resolve_name("mine.py:score")
    ('gradcam', 'mine.py:score')
    """
    return name if is_import_name(name) else resolve("explainer", name, names())


def _own(name: str, options: dict[str, Any]) -> Method:
    """Return an explainer of the user; a class is made with the options."""
    from eigsearch.explainers.own import as_method

    found = import_named(name, "explainer", "explainer")
    is_class = isinstance(found, type) and hasattr(found, "rank")
    return as_method(found(**options) if is_class else found, name.rpartition(":")[2])


def table() -> list[dict[str, str]]:
    """Return one row per explainer, in words: what a user has to know before choosing.

    >>> table()[0]["explainer"]
    'eig_search'
    """
    return [describe(name) for name in names()]


def describe(name: str) -> dict[str, str]:
    """Return what the card of an explainer says, in words."""
    key = resolve("explainer", name, names())
    return {"explainer": key, **method_class(key).card.as_row()}


def built_in_classes() -> dict[str, str]:
    """Return the module of each built-in class, without importing it."""
    return {entry.attr: entry.module for entry in _built_in()}


def _built_in() -> list[EntryPoint]:
    return [EntryPoint(name, f"{GROUP}.{path}", GROUP) for name, path in _BUILT_IN.items()]


@cache
def _entries() -> dict[str, EntryPoint]:
    """Return built-in explainers and those of installed packages by name."""
    entries = {entry.name: entry for entry in _built_in()}
    for entry in entry_points(group=GROUP):
        if entry.name in entries:
            warnings.warn(
                f"Expected the explainers of installed packages to have names of their own (got "
                f"{entry.name!r} from {entry.value}). It is left out; rename its entry point.",
                stacklevel=2,
            )
        else:
            entries[entry.name] = entry
    return entries
